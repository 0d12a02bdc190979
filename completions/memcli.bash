# Completion of memcli, written by: memcli completion bash

_memcli_ask() {  # documents, sources, workspaces; a name is read as it is, without expansion
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(_MEMCLI_COMPLETE=$1 "${COMP_WORDS[0]}" "$folder" "$cur" 2>/dev/null)
    compopt -o filenames 2>/dev/null
}

_memcli_values() {
    case $1 in
        workspaces)
            if [[ $cur == @* ]]; then _memcli_ask "$1"; return; fi
            compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        documents|sources) _memcli_ask "$1" ;;
    esac
}

_memcli() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= folder= at
    COMPREPLY=()
    if [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    if [[ $cur == "=" ]]; then cur=; fi
    cur=${cur#[\"\']}
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            -w|--workspace)
                folder=${COMP_WORDS[at+1]}
                if [[ $folder == "=" ]]; then folder=${COMP_WORDS[at+2]}; fi ;;
        esac
    done
    command=${COMP_WORDS[1]}
    if ((COMP_CWORD > 1)); then
        case $command in
            config) if ((COMP_CWORD > 2)); then command+=" ${COMP_WORDS[2]}"; fi ;;
            agents) if ((COMP_CWORD > 2)); then command+=" ${COMP_WORDS[2]}"; fi ;;
            bench) if ((COMP_CWORD > 2)); then command+=" ${COMP_WORDS[2]}"; fi ;;
            store) if ((COMP_CWORD > 2)); then command+=" ${COMP_WORDS[2]}"; fi ;;
        esac
    else
        command=
    fi
    case $command:$prev in
        "search:-n"|"search:--limit") _memcli_values ''; return ;;
        "search:-f"|"search:--format") mapfile -t COMPREPLY < <(compgen -W "text json jsonl markdown paths paths0 vimgrep" -- "$cur"); return ;;
        "search:--open") _memcli_values ''; return ;;
        "search:--fields") mapfile -t COMPREPLY < <(compgen -W "rank ref workspace path source start_line end_line heading_path title date date_from score confidence citation snippet text_hash tokens kind source_kind scope trust text cut speakers speaker_match duplicates corrected_by trace file" -- "$cur"); return ;;
        "search:-C"|"search:--context") _memcli_values ''; return ;;
        "search:--after") _memcli_values ''; return ;;
        "search:--why-not") _memcli_values 'documents'; return ;;
        "search:--since") _memcli_values ''; return ;;
        "search:--until") _memcli_values ''; return ;;
        "search:--on") _memcli_values ''; return ;;
        "search:--sort") _memcli_values ''; return ;;
        "search:--as-of") _memcli_values ''; return ;;
        "search:--path") _memcli_values 'documents'; return ;;
        "search:--source") _memcli_values 'sources'; return ;;
        "search:--kind") _memcli_values ''; return ;;
        "search:--scope") mapfile -t COMPREPLY < <(compgen -W "session user global private" -- "$cur"); return ;;
        "search:--trust") mapfile -t COMPREPLY < <(compgen -W "trusted untrusted" -- "$cur"); return ;;
        "search:--heading") _memcli_values ''; return ;;
        "search:--by") _memcli_values ''; return ;;
        "search:--tag") _memcli_values ''; return ;;
        "search:--where") _memcli_values ''; return ;;
        "search:--mode") mapfile -t COMPREPLY < <(compgen -W "hybrid keyword semantic" -- "$cur"); return ;;
        "search:--fusion") mapfile -t COMPREPLY < <(compgen -W "scaled weighted rrf" -- "$cur"); return ;;
        "search:--profile") mapfile -t COMPREPLY < <(compgen -W "default classic convex two-pass" -- "$cur"); return ;;
        "search:--rerank") mapfile -t COMPREPLY < <(compgen -W "none tokens onnx endpoint" -- "$cur"); return ;;
        "search:--view") mapfile -t COMPREPLY < <(compgen -W "active all raw" -- "$cur"); return ;;
        "search:--budget") _memcli_values ''; return ;;
        "search:--min-score") _memcli_values ''; return ;;
        "search:--used") _memcli_values 'documents'; return ;;
        "search:--trace") _memcli_values 'files'; return ;;
        "search:-w"|"search:--workspace") _memcli_values 'workspaces'; return ;;
        "search:--with") _memcli_values ''; return ;;
        "search:--workspace-name") _memcli_values ''; return ;;
        "search:--tenant") _memcli_values ''; return ;;
        "search:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "search:--now") _memcli_values ''; return ;;
        "context:--budget") _memcli_values ''; return ;;
        "context:--tail") _memcli_values ''; return ;;
        "context:-f"|"context:--format") mapfile -t COMPREPLY < <(compgen -W "markdown json" -- "$cur"); return ;;
        "context:--mode") mapfile -t COMPREPLY < <(compgen -W "hybrid keyword semantic" -- "$cur"); return ;;
        "context:--profile") mapfile -t COMPREPLY < <(compgen -W "default classic convex two-pass" -- "$cur"); return ;;
        "context:--rerank") mapfile -t COMPREPLY < <(compgen -W "none tokens onnx endpoint" -- "$cur"); return ;;
        "context:--as-of") _memcli_values ''; return ;;
        "context:--trace") _memcli_values 'files'; return ;;
        "context:-w"|"context:--workspace") _memcli_values 'workspaces'; return ;;
        "context:--with") _memcli_values ''; return ;;
        "context:--workspace-name") _memcli_values ''; return ;;
        "context:--tenant") _memcli_values ''; return ;;
        "context:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "context:--now") _memcli_values ''; return ;;
        "related:-n"|"related:--limit") _memcli_values ''; return ;;
        "related:-f"|"related:--format") mapfile -t COMPREPLY < <(compgen -W "text json jsonl markdown paths paths0 vimgrep" -- "$cur"); return ;;
        "related:--fields") mapfile -t COMPREPLY < <(compgen -W "rank ref workspace path source start_line end_line heading_path title date date_from score citation snippet text_hash tokens kind source_kind scope trust text cut speakers speaker_match duplicates corrected_by file cosine coverage" -- "$cur"); return ;;
        "related:--mode") mapfile -t COMPREPLY < <(compgen -W "hybrid keyword semantic" -- "$cur"); return ;;
        "related:--path") _memcli_values 'documents'; return ;;
        "related:--source") _memcli_values 'sources'; return ;;
        "related:--kind") _memcli_values ''; return ;;
        "related:--tag") _memcli_values ''; return ;;
        "related:--where") _memcli_values ''; return ;;
        "related:-w"|"related:--workspace") _memcli_values 'workspaces'; return ;;
        "related:--workspace-name") _memcli_values ''; return ;;
        "related:--tenant") _memcli_values ''; return ;;
        "related:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "related:--now") _memcli_values ''; return ;;
        "get:--from") _memcli_values ''; return ;;
        "get:--lines") _memcli_values ''; return ;;
        "get:-C"|"get:--context") _memcli_values ''; return ;;
        "get:--hash") _memcli_values ''; return ;;
        "get:--as-of") _memcli_values ''; return ;;
        "get:-w"|"get:--workspace") _memcli_values 'workspaces'; return ;;
        "get:--with") _memcli_values ''; return ;;
        "get:--workspace-name") _memcli_values ''; return ;;
        "get:--tenant") _memcli_values ''; return ;;
        "get:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "get:--now") _memcli_values ''; return ;;
        "ls:-f"|"ls:--format") mapfile -t COMPREPLY < <(compgen -W "text json jsonl paths paths0" -- "$cur"); return ;;
        "ls:-n"|"ls:--limit") _memcli_values ''; return ;;
        "ls:--count") mapfile -t COMPREPLY < <(compgen -W "kind tag key source" -- "$cur"); return ;;
        "ls:--sort") mapfile -t COMPREPLY < <(compgen -W "path date newest" -- "$cur"); return ;;
        "ls:--since") _memcli_values ''; return ;;
        "ls:--until") _memcli_values ''; return ;;
        "ls:--on") _memcli_values ''; return ;;
        "ls:--source") _memcli_values 'sources'; return ;;
        "ls:--kind") _memcli_values ''; return ;;
        "ls:--scope") mapfile -t COMPREPLY < <(compgen -W "session user global private" -- "$cur"); return ;;
        "ls:--trust") mapfile -t COMPREPLY < <(compgen -W "trusted untrusted" -- "$cur"); return ;;
        "ls:--tag") _memcli_values ''; return ;;
        "ls:--where") _memcli_values ''; return ;;
        "ls:--links-to") _memcli_values ''; return ;;
        "ls:-w"|"ls:--workspace") _memcli_values 'workspaces'; return ;;
        "ls:--with") _memcli_values ''; return ;;
        "ls:--workspace-name") _memcli_values ''; return ;;
        "ls:--tenant") _memcli_values ''; return ;;
        "ls:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "ls:--now") _memcli_values ''; return ;;
        "changes:--since") _memcli_values ''; return ;;
        "changes:--until") _memcli_values ''; return ;;
        "changes:--by") mapfile -t COMPREPLY < <(compgen -W "agent" -- "$cur"); return ;;
        "changes:-n"|"changes:--limit") _memcli_values ''; return ;;
        "changes:-f"|"changes:--format") _memcli_values ''; return ;;
        "changes:-w"|"changes:--workspace") _memcli_values 'workspaces'; return ;;
        "changes:--workspace-name") _memcli_values ''; return ;;
        "changes:--tenant") _memcli_values ''; return ;;
        "changes:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "changes:--now") _memcli_values ''; return ;;
        "remember:--to") _memcli_values 'documents'; return ;;
        "remember:--heading") _memcli_values ''; return ;;
        "remember:--type") _memcli_values ''; return ;;
        "remember:--corrects") _memcli_values 'documents'; return ;;
        "remember:--check") _memcli_values 'files'; return ;;
        "remember:-w"|"remember:--workspace") _memcli_values 'workspaces'; return ;;
        "remember:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "remember:--now") _memcli_values ''; return ;;
        "inbox:--keep") _memcli_values ''; return ;;
        "inbox:--drop") _memcli_values ''; return ;;
        "inbox:-w"|"inbox:--workspace") _memcli_values 'workspaces'; return ;;
        "inbox:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "inbox:--now") _memcli_values ''; return ;;
        "compact:--tail-days") _memcli_values ''; return ;;
        "compact:--tail") _memcli_values ''; return ;;
        "compact:--cluster") _memcli_values ''; return ;;
        "compact:--ratio") _memcli_values ''; return ;;
        "compact:--summarizer") mapfile -t COMPREPLY < <(compgen -W "extractive command onnx" -- "$cur"); return ;;
        "compact:-w"|"compact:--workspace") _memcli_values 'workspaces'; return ;;
        "compact:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "compact:--now") _memcli_values ''; return ;;
        "lint:--fail-on") _memcli_values ''; return ;;
        "lint:-w"|"lint:--workspace") _memcli_values 'workspaces'; return ;;
        "lint:--with") _memcli_values ''; return ;;
        "lint:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "lint:--now") _memcli_values ''; return ;;
        "init:-w"|"init:--workspace") _memcli_values 'workspaces'; return ;;
        "init:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "init:--now") _memcli_values ''; return ;;
        "index:--wait") _memcli_values ''; return ;;
        "index:--debounce") _memcli_values ''; return ;;
        "index:--interval") _memcli_values ''; return ;;
        "index:--encoder") mapfile -t COMPREPLY < <(compgen -W "auto bundled multilingual onnx openai none" -- "$cur"); return ;;
        "index:-w"|"index:--workspace") _memcli_values 'workspaces'; return ;;
        "index:--with") _memcli_values ''; return ;;
        "index:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "index:--now") _memcli_values ''; return ;;
        "status:-w"|"status:--workspace") _memcli_values 'workspaces'; return ;;
        "status:--with") _memcli_values ''; return ;;
        "status:--workspace-name") _memcli_values ''; return ;;
        "status:--tenant") _memcli_values ''; return ;;
        "status:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "status:--now") _memcli_values ''; return ;;
        "mcp:-w"|"mcp:--workspace") _memcli_values 'workspaces'; return ;;
        "mcp:--workspace-name") _memcli_values ''; return ;;
        "mcp:--tenant") _memcli_values ''; return ;;
        "mcp:--with") _memcli_values ''; return ;;
        "mcp:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "hook:--for") mapfile -t COMPREPLY < <(compgen -W "claude-code codex gemini cursor opencode openclaw" -- "$cur"); return ;;
        "hook:--budget") _memcli_values ''; return ;;
        "hook:-w"|"hook:--workspace") _memcli_values 'workspaces'; return ;;
        "hook:--with") _memcli_values ''; return ;;
        "hook:--workspace-name") _memcli_values ''; return ;;
        "hook:--tenant") _memcli_values ''; return ;;
        "hook:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "hook:--now") _memcli_values ''; return ;;
        "config get:-w"|"config get:--workspace") _memcli_values 'workspaces'; return ;;
        "config get:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "config get:--now") _memcli_values ''; return ;;
        "config set:-w"|"config set:--workspace") _memcli_values 'workspaces'; return ;;
        "config set:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "config set:--now") _memcli_values ''; return ;;
        "config unset:-w"|"config unset:--workspace") _memcli_values 'workspaces'; return ;;
        "config unset:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "config unset:--now") _memcli_values ''; return ;;
        "agents list:-w"|"agents list:--workspace") _memcli_values 'workspaces'; return ;;
        "agents list:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "agents list:--now") _memcli_values ''; return ;;
        "agents install:--scope") mapfile -t COMPREPLY < <(compgen -W "user project" -- "$cur"); return ;;
        "agents install:--with") mapfile -t COMPREPLY < <(compgen -W "mcp hooks skill instructions" -- "$cur"); return ;;
        "agents install:-w"|"agents install:--workspace") _memcli_values 'workspaces'; return ;;
        "agents install:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "agents install:--now") _memcli_values ''; return ;;
        "agents uninstall:--scope") mapfile -t COMPREPLY < <(compgen -W "user project" -- "$cur"); return ;;
        "agents uninstall:-w"|"agents uninstall:--workspace") _memcli_values 'workspaces'; return ;;
        "agents uninstall:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "agents uninstall:--now") _memcli_values ''; return ;;
        "agents export:--to") _memcli_values 'workspaces'; return ;;
        "agents export:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "agents export:--now") _memcli_values ''; return ;;
        "bench quality:--against") _memcli_values 'files'; return ;;
        "bench quality:--baseline") _memcli_values 'files'; return ;;
        "bench quality:--fail-under") _memcli_values ''; return ;;
        "bench quality:--max-drop") _memcli_values ''; return ;;
        "bench quality:--max-p95-ms") _memcli_values ''; return ;;
        "bench quality:--run") _memcli_values 'files'; return ;;
        "bench quality:--compare") _memcli_values ''; return ;;
        "bench quality:--profile") mapfile -t COMPREPLY < <(compgen -W "default classic convex two-pass" -- "$cur"); return ;;
        "bench quality:--mode") mapfile -t COMPREPLY < <(compgen -W "hybrid keyword semantic" -- "$cur"); return ;;
        "bench quality:--fusion") mapfile -t COMPREPLY < <(compgen -W "scaled weighted rrf" -- "$cur"); return ;;
        "bench quality:--rerank") mapfile -t COMPREPLY < <(compgen -W "none tokens onnx endpoint" -- "$cur"); return ;;
        "bench quality:-w"|"bench quality:--workspace") _memcli_values 'workspaces'; return ;;
        "bench quality:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench quality:--now") _memcli_values ''; return ;;
        "bench init:--out") _memcli_values 'files'; return ;;
        "bench init:-n"|"bench init:--limit") _memcli_values ''; return ;;
        "bench init:-w"|"bench init:--workspace") _memcli_values 'workspaces'; return ;;
        "bench init:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench init:--now") _memcli_values ''; return ;;
        "bench compare:-w"|"bench compare:--workspace") _memcli_values 'workspaces'; return ;;
        "bench compare:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench compare:--now") _memcli_values ''; return ;;
        "bench check:--max-drop") _memcli_values ''; return ;;
        "bench check:--max-slower") _memcli_values ''; return ;;
        "bench check:-w"|"bench check:--workspace") _memcli_values 'workspaces'; return ;;
        "bench check:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench check:--now") _memcli_values ''; return ;;
        "bench report:--html") _memcli_values 'files'; return ;;
        "bench report:-w"|"bench report:--workspace") _memcli_values 'workspaces'; return ;;
        "bench report:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench report:--now") _memcli_values ''; return ;;
        "bench speed:--documents") _memcli_values ''; return ;;
        "bench speed:--runs") _memcli_values ''; return ;;
        "bench speed:--mode") mapfile -t COMPREPLY < <(compgen -W "hybrid keyword semantic" -- "$cur"); return ;;
        "bench speed:-w"|"bench speed:--workspace") _memcli_values 'workspaces'; return ;;
        "bench speed:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench speed:--now") _memcli_values ''; return ;;
        "bench replay:-w"|"bench replay:--workspace") _memcli_values 'workspaces'; return ;;
        "bench replay:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench replay:--now") _memcli_values ''; return ;;
        "bench calibrate:-w"|"bench calibrate:--workspace") _memcli_values 'workspaces'; return ;;
        "bench calibrate:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "bench calibrate:--now") _memcli_values ''; return ;;
        "store status:-w"|"store status:--workspace") _memcli_values 'workspaces'; return ;;
        "store status:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store status:--now") _memcli_values ''; return ;;
        "store init:--partitions") _memcli_values ''; return ;;
        "store init:-w"|"store init:--workspace") _memcli_values 'workspaces'; return ;;
        "store init:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store init:--now") _memcli_values ''; return ;;
        "store grants:--role") _memcli_values ''; return ;;
        "store grants:--tenant") _memcli_values ''; return ;;
        "store grants:-w"|"store grants:--workspace") _memcli_values 'workspaces'; return ;;
        "store grants:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store grants:--now") _memcli_values ''; return ;;
        "store members:-w"|"store members:--workspace") _memcli_values 'workspaces'; return ;;
        "store members:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store members:--now") _memcli_values ''; return ;;
        "store attach:-w"|"store attach:--workspace") _memcli_values 'workspaces'; return ;;
        "store attach:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store attach:--now") _memcli_values ''; return ;;
        "store detach:-w"|"store detach:--workspace") _memcli_values 'workspaces'; return ;;
        "store detach:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store detach:--now") _memcli_values ''; return ;;
        "store rename:-w"|"store rename:--workspace") _memcli_values 'workspaces'; return ;;
        "store rename:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store rename:--now") _memcli_values ''; return ;;
        "store delete:-w"|"store delete:--workspace") _memcli_values 'workspaces'; return ;;
        "store delete:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store delete:--now") _memcli_values ''; return ;;
        "store upgrade:-w"|"store upgrade:--workspace") _memcli_values 'workspaces'; return ;;
        "store upgrade:--color") mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
        "store upgrade:--now") _memcli_values ''; return ;;
    esac
    if [[ $cur == -* ]]; then
        case $command in
        "search") mapfile -t COMPREPLY < <(compgen -W "--stdin -n --limit -f --format --open -i --interactive --fields --json --full -1 --brief --list -C --context --more --after --explain --superseded --why-not --since --until --on --sort --undated --as-of --path --source --kind --scope --trust --heading --by --tag --where --exact --mode --fusion --profile --rerank --view --expand --budget --min-score --exit-code --require-semantic --no-sync --sync --used --trace -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "context") mapfile -t COMPREPLY < <(compgen -W "--budget --tail -f --format --json --explain --mode --profile --rerank --as-of --no-sync --sync --trace -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "related") mapfile -t COMPREPLY < <(compgen -W "-n --limit -f --format --fields --json --full -1 --brief --more --mode --path --source --kind --tag --where --no-sync --sync -w --workspace --everywhere --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "get") mapfile -t COMPREPLY < <(compgen -W "--from --lines -C --context --hash --expand --history --show-secrets --as-of --json -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "ls") mapfile -t COMPREPLY < <(compgen -W "-f --format -n --limit --all --json --count --sort --since --until --on --undated --source --kind --scope --trust --tag --where --links-to --no-sync --sync -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "changes") mapfile -t COMPREPLY < <(compgen -W "--since --until --by -n --limit -f --format --json -w --workspace --everywhere --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "remember") mapfile -t COMPREPLY < <(compgen -W "--to --heading --type --corrects --gate --force --check --dry-run --explain --undo --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "inbox") mapfile -t COMPREPLY < <(compgen -W "--keep --drop --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "compact") mapfile -t COMPREPLY < <(compgen -W "--apply --verify --undo --dry-run --show --tail-days --tail --cluster --ratio --summarizer --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "lint") mapfile -t COMPREPLY < <(compgen -W "--fail-on --json -w --workspace --with -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "init") mapfile -t COMPREPLY < <(compgen -W "--user --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "index") mapfile -t COMPREPLY < <(compgen -W "--full --dry-run --prune --clean --apply --wait --watch --debounce --interval --encoder --json -w --workspace --everywhere --with -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "status") mapfile -t COMPREPLY < <(compgen -W "--check --deep --json -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "mcp") mapfile -t COMPREPLY < <(compgen -W "--structured --write -w --workspace --everywhere --workspace-name --tenant --with -q --quiet -v --verbose --color --debug -h --help" -- "$cur") ;;
        "hook") mapfile -t COMPREPLY < <(compgen -W "--for --budget -w --workspace --everywhere --with --workspace-name --tenant -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "help") mapfile -t COMPREPLY < <(compgen -W "--man -h --help" -- "$cur") ;;
        "completion") mapfile -t COMPREPLY < <(compgen -W "--keys -h --help" -- "$cur") ;;
        "config get") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "config set") mapfile -t COMPREPLY < <(compgen -W "--user --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "config unset") mapfile -t COMPREPLY < <(compgen -W "--user --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "agents list") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "agents install") mapfile -t COMPREPLY < <(compgen -W "--scope --with --write --apply --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "agents uninstall") mapfile -t COMPREPLY < <(compgen -W "--scope --apply --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "agents export") mapfile -t COMPREPLY < <(compgen -W "--write --to -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench quality") mapfile -t COMPREPLY < <(compgen -W "--against --baseline --fail-under --max-drop --max-p95-ms --run --ablate --compare --profile --mode --fusion --rerank --no-sync --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench init") mapfile -t COMPREPLY < <(compgen -W "--out -n --limit --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench compare") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench check") mapfile -t COMPREPLY < <(compgen -W "--max-drop --max-slower --no-speed --accept --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench report") mapfile -t COMPREPLY < <(compgen -W "--html --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench speed") mapfile -t COMPREPLY < <(compgen -W "--documents --runs --mode --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench replay") mapfile -t COMPREPLY < <(compgen -W "--no-sync --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "bench calibrate") mapfile -t COMPREPLY < <(compgen -W "--dry-run --no-sync --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store status") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store init") mapfile -t COMPREPLY < <(compgen -W "--partitions --print-sql --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store grants") mapfile -t COMPREPLY < <(compgen -W "--role --tenant --write --revoke --apply --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store members") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store attach") mapfile -t COMPREPLY < <(compgen -W "--take-over --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store detach") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store rename") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store delete") mapfile -t COMPREPLY < <(compgen -W "--apply --json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "store upgrade") mapfile -t COMPREPLY < <(compgen -W "--json -w --workspace -q --quiet -v --verbose --color --now --debug -h --help" -- "$cur") ;;
        "") mapfile -t COMPREPLY < <(compgen -W "-h --help --version" -- "$cur") ;;
        esac
        return
    fi
    case $command in
        "related") _memcli_values 'documents' ;;
        "get") _memcli_values 'documents' ;;
        "ls") _memcli_values 'documents' ;;
        "help") mapfile -t COMPREPLY < <(compgen -W "agent-memory agent-setup agents agents bench bench benchmarks changelog changes changes compact compact completion config context context contributing conversations editors exit-codes files front-matter get help hook hook inbox index init json lint lint ls mcp python query-syntax ranking related remember remember search secrets security settings shared-index status store tour watch workspaces" -- "$cur") ;;
        "completion") mapfile -t COMPREPLY < <(compgen -W "bash zsh fish" -- "$cur") ;;
        "config get") mapfile -t COMPREPLY < <(compgen -W "secrets capture store.path store.url store.tenant files.scope files.agent_memories files.include files.exclude files.evergreen files.always files.soft files.max_bytes files.follow_symlinks chunk.tokens chunk.overlap embedding.encoder embedding.fallback embedding.threads onnx.folder onnx.pooling onnx.query_prefix onnx.passage_prefix onnx.max_tokens onnx.matryoshka openai.url openai.model openai.key_variable openai.dimension openai.query_prefix openai.passage_prefix openai.max_tokens openai.matryoshka openai.timeout_seconds matryoshka.first matryoshka.second search.limit search.mode search.profile search.fusion search.semantic_weight search.keyword_weight search.universe search.candidate_multiplier search.half_life_days search.decay_floor search.mmr_lambda search.mmr_min search.min_score search.date_order search.repair search.follow_up search.rerank search.view search.quality_weight convex.alpha convex.beta convex.gamma convex.decay_session convex.decay_user convex.decay_global convex.scope_session convex.scope_user convex.scope_global passes.first passes.second passes.theta passes.kappa authority.recency authority.frequency authority.authored authority.half_life_days access.count rerank.seconds rerank.folder rerank.max_tokens rerank.url rerank.model rerank.key_variable expand.tokens context.budget context.tail context.always_share context.soft_share context.preference_share context.tail_share context.hop_eta context.hop_theta compact.tail_days compact.tail_entries compact.cluster compact.ratio compact.context_tokens compact.command compact.folder compact.prompt compact.reads compact.writes gate.least gating.novelty gating.specificity gating.kind sync.on_search sync.seconds sync.segments sync.first watch.debounce_ms watch.threads watch.interval_minutes terminal.hyperlink" -- "$cur") ;;
        "config set") mapfile -t COMPREPLY < <(compgen -W "secrets capture store.path store.url store.tenant files.scope files.agent_memories files.include files.exclude files.evergreen files.always files.soft files.max_bytes files.follow_symlinks chunk.tokens chunk.overlap embedding.encoder embedding.fallback embedding.threads onnx.folder onnx.pooling onnx.query_prefix onnx.passage_prefix onnx.max_tokens onnx.matryoshka openai.url openai.model openai.key_variable openai.dimension openai.query_prefix openai.passage_prefix openai.max_tokens openai.matryoshka openai.timeout_seconds matryoshka.first matryoshka.second search.limit search.mode search.profile search.fusion search.semantic_weight search.keyword_weight search.universe search.candidate_multiplier search.half_life_days search.decay_floor search.mmr_lambda search.mmr_min search.min_score search.date_order search.repair search.follow_up search.rerank search.view search.quality_weight convex.alpha convex.beta convex.gamma convex.decay_session convex.decay_user convex.decay_global convex.scope_session convex.scope_user convex.scope_global passes.first passes.second passes.theta passes.kappa authority.recency authority.frequency authority.authored authority.half_life_days access.count rerank.seconds rerank.folder rerank.max_tokens rerank.url rerank.model rerank.key_variable expand.tokens context.budget context.tail context.always_share context.soft_share context.preference_share context.tail_share context.hop_eta context.hop_theta compact.tail_days compact.tail_entries compact.cluster compact.ratio compact.context_tokens compact.command compact.folder compact.prompt compact.reads compact.writes gate.least gating.novelty gating.specificity gating.kind sync.on_search sync.seconds sync.segments sync.first watch.debounce_ms watch.threads watch.interval_minutes terminal.hyperlink" -- "$cur") ;;
        "config unset") mapfile -t COMPREPLY < <(compgen -W "secrets capture store.path store.url store.tenant files.scope files.agent_memories files.include files.exclude files.evergreen files.always files.soft files.max_bytes files.follow_symlinks chunk.tokens chunk.overlap embedding.encoder embedding.fallback embedding.threads onnx.folder onnx.pooling onnx.query_prefix onnx.passage_prefix onnx.max_tokens onnx.matryoshka openai.url openai.model openai.key_variable openai.dimension openai.query_prefix openai.passage_prefix openai.max_tokens openai.matryoshka openai.timeout_seconds matryoshka.first matryoshka.second search.limit search.mode search.profile search.fusion search.semantic_weight search.keyword_weight search.universe search.candidate_multiplier search.half_life_days search.decay_floor search.mmr_lambda search.mmr_min search.min_score search.date_order search.repair search.follow_up search.rerank search.view search.quality_weight convex.alpha convex.beta convex.gamma convex.decay_session convex.decay_user convex.decay_global convex.scope_session convex.scope_user convex.scope_global passes.first passes.second passes.theta passes.kappa authority.recency authority.frequency authority.authored authority.half_life_days access.count rerank.seconds rerank.folder rerank.max_tokens rerank.url rerank.model rerank.key_variable expand.tokens context.budget context.tail context.always_share context.soft_share context.preference_share context.tail_share context.hop_eta context.hop_theta compact.tail_days compact.tail_entries compact.cluster compact.ratio compact.context_tokens compact.command compact.folder compact.prompt compact.reads compact.writes gate.least gating.novelty gating.specificity gating.kind sync.on_search sync.seconds sync.segments sync.first watch.debounce_ms watch.threads watch.interval_minutes terminal.hyperlink" -- "$cur") ;;
        "agents install") mapfile -t COMPREPLY < <(compgen -W "claude-code codex gemini openclaw cursor vscode opencode zed copilot claude-desktop windsurf cline" -- "$cur") ;;
        "agents uninstall") mapfile -t COMPREPLY < <(compgen -W "claude-code codex gemini openclaw cursor vscode opencode zed copilot claude-desktop windsurf cline" -- "$cur") ;;
        "agents export") mapfile -t COMPREPLY < <(compgen -W "claude-code codex gemini openclaw cursor vscode opencode zed copilot claude-desktop windsurf cline" -- "$cur") ;;
        "bench compare") _memcli_values 'files' ;;
        "bench check") _memcli_values 'files' ;;
        "bench report") _memcli_values 'files' ;;
        "bench replay") _memcli_values 'files' ;;
        "bench calibrate") _memcli_values 'files' ;;
        "") mapfile -t COMPREPLY < <(compgen -W "search context related get ls changes remember inbox compact lint init index status mcp hook help completion config agents bench store" -- "$cur") ;;
        "config") mapfile -t COMPREPLY < <(compgen -W "get set unset" -- "$cur") ;;
        "agents") mapfile -t COMPREPLY < <(compgen -W "list install uninstall export" -- "$cur") ;;
        "bench") mapfile -t COMPREPLY < <(compgen -W "quality init compare check report speed replay calibrate" -- "$cur") ;;
        "store") mapfile -t COMPREPLY < <(compgen -W "status init grants members attach detach rename delete upgrade" -- "$cur") ;;
    esac
}

complete -F _memcli memcli
