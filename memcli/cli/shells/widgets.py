"""Key bindings of shells: pick a passage in the middle of a command line.

Ctrl-X m puts the path of its file at the cursor, quoted; Ctrl-X o opens it in the editor.
"""

from __future__ import annotations

_BASH = r"""
__memcli_insert() {
    local file
    file=$(memcli pick --print file) || return
    printf -v file '%q' "$file"
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$file${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#file}))
}

bind -x '"\C-xm": __memcli_insert'
bind -x '"\C-xo": memcli pick'
"""

# An editor of lines leaves the terminal in a mode of its own, in which no program can read a line.
_ZSH = r"""
__memcli_pick() {
  local modes=$(stty -g < /dev/tty)
  zle -I
  stty sane < /dev/tty
  memcli pick "$@" < /dev/tty
  local code=$?
  stty "$modes" < /dev/tty
  return $code
}

__memcli_insert() {
  local file
  file=$(__memcli_pick --print file) && LBUFFER+=${(q)file}
  zle reset-prompt
}

__memcli_open() {
  __memcli_pick
  zle reset-prompt
}

zle -N __memcli_insert
zle -N __memcli_open
bindkey '^Xm' __memcli_insert
bindkey '^Xo' __memcli_open
"""

_FISH = r"""
function __memcli_insert
    set -l file (memcli pick --print file)
    and commandline -i -- (string escape -- $file)
    commandline -f repaint
end

function __memcli_open
    memcli pick
    commandline -f repaint
end

bind \cxm __memcli_insert
bind \cxo __memcli_open
"""

_HEAD = """\
# Keys of memcli, written by: memcli help --widget {shell}
# Ctrl-X m puts the path of a passage into the line, Ctrl-X o opens it in the editor.
"""
WIDGETS = {
    shell: _HEAD.format(shell=shell) + script
    for shell, script in (("bash", _BASH), ("zsh", _ZSH), ("fish", _FISH))
}
