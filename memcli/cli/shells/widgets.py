"""Key bindings of shells: choose a passage in the middle of a command line.

Ctrl-X m puts the path of its file at the cursor, quoted; Ctrl-X o opens it in the editor.
"""

from __future__ import annotations

_BASH = r"""
__memcli_insert() {
    local file
    file=$(memcli search -i -f '{file}') || return
    printf -v file '%q' "$file"
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$file${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#file}))
}

bind -x '"\C-xm": __memcli_insert'
bind -x '"\C-xo": memcli search -i'
"""

# The line editor leaves the terminal in a mode in which programs cannot read a line.
_ZSH = r"""
__memcli_pick() {
  local modes=$(stty -g < /dev/tty)
  zle -I
  stty sane < /dev/tty
  memcli search -i "$@" < /dev/tty
  local code=$?
  stty "$modes" < /dev/tty
  return $code
}

__memcli_insert() {
  local file
  file=$(__memcli_pick -f '{file}') && LBUFFER+=${(q)file}
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
    set -l file (memcli search -i -f '{file}')
    and commandline -i -- (string escape -- $file)
    commandline -f repaint
end

function __memcli_open
    memcli search -i
    commandline -f repaint
end

bind \cxm __memcli_insert
bind \cxo __memcli_open
"""

_HEAD = """\
# Key bindings of memcli, written by: memcli completion {shell} --keys
# Ctrl-X m puts the path of a passage into the line, Ctrl-X o opens it in the editor.
"""
WIDGETS = {
    shell: _HEAD.format(shell=shell) + script
    for shell, script in (("bash", _BASH), ("zsh", _ZSH), ("fish", _FISH))
}
