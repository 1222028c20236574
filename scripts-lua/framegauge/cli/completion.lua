-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge completion`: what shells and man need to know, from the command table.
local manual = require "framegauge.cli.manual"
local parse = require "framegauge.cli.parse"
local plan = require "framegauge.plan.help"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"

local M = {}

local function names(rows, prefix)
   return tables.map(rows, function(row) return (prefix or "") .. row.name end)
end

local function options_of(command)
   local list = names(command.options, "--")
   list[#list + 1] = "--help"
   return table.concat(list, " ")
end

-- Words that the arguments of a command can be; nil where they are files or anything.
local function words_of(command, commands)
   for _, argument in ipairs(command.arguments) do
      if argument.words then
         return table.concat(argument.words, " ")
      end
   end
   return command.name == "help" and table.concat(names(commands), " ") .. " plan protocols exit" or nil
end

local BASH = [==[
# Completion of framegauge for bash.
_framegauge() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options='' words=''
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W '%s --help --version --verbose --lua-path' -- "$word"))
		return
	fi
	case $command in
%s	esac
	if [ "${COMP_WORDS[COMP_CWORD-1]}" = --set ]; then
		compopt -o nospace 2>/dev/null
		COMPREPLY=($(compgen -S = -W "$("$1" completion keys)" -- "$word"))
	elif [[ $COMP_CWORD -gt 3 && ${COMP_WORDS[*]:COMP_CWORD-3:2} == "--set "* ]]; then
		COMPREPLY=($(compgen -W "$("$1" completion values "${COMP_WORDS[COMP_CWORD-2]}")" -- "$word"))
	elif [[ $word == = && ${COMP_WORDS[COMP_CWORD-2]} == --set ]]; then
		COMPREPLY=($("$1" completion values "${COMP_WORDS[COMP_CWORD-1]}"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
	elif [ -n "$words" ]; then
		COMPREPLY=($(compgen -W "$words" -- "$word"))
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -F _framegauge framegauge
]==]

--- A script for bash.
function M.bash(commands)
   local cases = {}
   for i, command in ipairs(commands) do
      local words = words_of(command, commands)
      cases[i] = ("\t%s) options='%s'%s ;;\n"):format(command.name, options_of(command),
         words and " words='" .. words .. "'" or "")
   end
   return BASH:format(table.concat(names(commands), " "), table.concat(cases))
end

-- Text between quotes, where brackets and colons mean something to _arguments and _describe.
local function zsh_text(text)
   return (text:gsub("[%[%]:\\]", "\\%0"):gsub("'", "'\\''"))
end

local function zsh_arguments(command, commands)
   local list = tables.map(command.options, function(option)
      return ("'%s--%s[%s]%s'"):format(option.many and "*" or "", option.name,
         zsh_text(option.help), option.value and ":" .. zsh_text(option.value) .. ":_files" or "")
   end)
   list[#list + 1] = "'--help[the arguments of this command]'"
   local words = words_of(command, commands)
   list[#list + 1] = words and ("'*:word:(%s)'"):format(words) or "'*:file:_files'"
   return table.concat(list, " ")
end

local ZSH = [==[
#compdef framegauge
# Completion of framegauge for zsh.
_framegauge() {
	local -a commands
	commands=(%s)
	if (( CURRENT == 2 )); then
		_describe command commands
		return
	fi
	local command=$words[2]
	shift words
	(( CURRENT-- ))
	case $command in
%s	esac
}
if [[ $funcstack[1] = _framegauge ]]; then
	_framegauge "$@"
else
	compdef _framegauge framegauge
fi
]==]

--- A script for zsh.
function M.zsh(commands)
   local described, cases = {}, {}
   for i, command in ipairs(commands) do
      described[i] = ("'%s:%s'"):format(command.name, zsh_text(command.summary))
      cases[i] = ("\t%s) _arguments %s ;;\n"):format(command.name, zsh_arguments(command, commands))
   end
   return ZSH:format(table.concat(described, " "), table.concat(cases))
end

-- Words, one a line, for the scripts above.
local function lines(words)
   return table.concat(words, "\n") .. "\n"
end

local KINDS = {
   bash = M.bash, zsh = M.zsh, man = manual.commands, ["man-plan"] = manual.plan,
   keys = function()
      return lines(plan.keys())
   end,
   values = function(_, key)
      return lines(plan.values(key or ""))
   end,
}

function M.main(arguments, _, _, _, commands)
   local make = KINDS[arguments[1]]
   if not make then
      parse.usage_error("completion", "completion: there is no '%s'%s; there are bash, zsh, man and man-plan",
         arguments[1], suggest.hint(arguments[1], tables.keys(KINDS)))
   end
   io.write(make(commands, arguments[2]))
   return 0
end

return M
