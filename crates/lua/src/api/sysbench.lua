-- The table `sysbench` of scripts, and what calls the functions that a script defines. `native` is what the program knows of this state.
-- Functions that can fail return false and a reason.
local native, count = ...
local ffi = require("ffi")

sysbench = {
    version = "1.0.20",
    version_string = "sysbench 1.0.20",
    tid = native.thread,
    error = { NONE = 0, RESTART_EVENT = 1 },
    hooks = {},
    cmdline = {
        PARALLEL_COMMAND = true,
        ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8,
        command = native.command,
        script_path = native.script,
        argv = native.argv,
    },
}
test = native.script
thread_id = native.thread
_G.ffi = ffi

-- What goes to standard output follows what the program has written there, and is followed by what it writes next. If a document is to be
-- the only text there, it goes to standard error.
if native.reserves_stdout then
    io.stdout = io.stderr
    io.output(io.stderr)
    print = function(...)
        local words = { ... }
        for i = 1, select("#", ...) do
            words[i] = tostring(words[i])
        end
        io.stderr:write(table.concat(words, "\t"), "\n")
    end
else
    io.stdout:setvbuf("line")
end

-- Names of files that are looked for last: what sysbench installs is not part of this program.
table.insert(package.loaders, function(name)
    if native.is_of_sysbench(name) then
        return "\n\t'" .. name .. "' is a file of sysbench, which ferrio does not have:"
            .. " copy it to the directory of the script, or name its directory in LUA_PATH"
    end
end)

-- The message of an error.
local function reason(err)
    if type(err) == "string" or type(err) == "number" then
        return tostring(err)
    end
    -- An error of the program itself is userdata.
    local meta = type(err) == "table" and getmetatable(err)
    local has_text = type(err) == "userdata" or type(meta) == "table" and meta.__tostring
    return has_text and tostring(err) or "(not a string)"
end

-- Calls a function; returns true and its result, or false and the message of its error.
local function protected(f, ...)
    local is_done, result = pcall(f, ...)
    if is_done then
        return true, result
    end
    return false, reason(result)
end

local function is_restart(err)
    return type(err) == "table" and err.errcode == sysbench.error.RESTART_EVENT
end

local program = {}

-- Reads the file and runs it.
function program.load(path)
    local chunk, err = loadfile(path)
    if not chunk then
        return false, err
    end
    return protected(chunk)
end

-- Makes the values of options known: as globals too if the script declares no options, as scripts of versions before 1.0 expect.
function program.set_options(values)
    sysbench.opt = values
    if sysbench.cmdline.options == nil then
        for name, value in pairs(values) do
            if rawget(_G, name) == nil then
                _G[name] = value
            end
        end
    end
end

function program.defines(name)
    return type(rawget(_G, name)) == "function"
end

function program.call(name, ...)
    return protected(_G[name], ...)
end

-- The function of a command of one's own, or of one that all tests have, and whether each thread calls it.
local function find_command(name)
    local own = type(sysbench.cmdline.commands) == "table" and sysbench.cmdline.commands[name]
    if type(own) == "table" then
        return own[1], own[2] == sysbench.cmdline.PARALLEL_COMMAND
    end
    if name == "prepare" or name == "cleanup" or name == "help" then
        return rawget(_G, name), false
    end
end

-- "no", "one" for the main thread or "all" for every thread.
function program.command_runs(name)
    local f, is_parallel = find_command(name)
    if type(f) ~= "function" then
        return "no"
    end
    return is_parallel and "all" or "one"
end

function program.run_command(name)
    return protected((find_command(name)))
end

-- Calls a hook that the script has set; returns whether there is one, and the message of its error.
function program.hook(name, value)
    local hook = sysbench.hooks[name]
    if type(hook) ~= "function" then
        return false
    end
    local is_done, err = protected(hook, value)
    return true, not is_done and err or nil
end

-- One event. Returns true and "next", "over" if the thread is to end, or "again" if the event is to begin again; or false and the message of
-- an error.
local function one_event(thread)
    local is_done, result = pcall(event, thread)
    if is_done then
        return true, result and "over" or "next"
    end
    if not is_restart(result) then
        return false, reason(result)
    end
    local hook = sysbench.hooks.before_restart_event
    if hook then
        local is_ready, err = pcall(hook, result)
        if not is_ready then
            return false, reason(err)
        end
    end
    return true, "again"
end

-- A script's own `thread_run` is a coroutine: it yields where it asks whether there are more events.
local loop

local function own_loop(has_more)
    local is_alive, err = coroutine.resume(loop, has_more)
    if not is_alive then
        return false, reason(err)
    end
    return true, coroutine.status(loop) == "dead" and "over" or "next"
end

local default_thread_run = function(thread)
    while ffi.C.sb_more_events(thread) do
        local is_done, what
        repeat
            is_done, what = one_event(thread)
            if not is_done then
                error(what, 0)
            end
        until what ~= "again"
        if what == "over" then
            return
        end
    end
end
thread_run = default_thread_run

function program.event(thread)
    if thread_run == default_thread_run then
        return one_event(thread)
    end
    if not loop then
        local run = thread_run
        loop = coroutine.create(function() run(thread) end)
        local is_alive, what = own_loop()
        if not is_alive or what == "over" then
            return is_alive, what
        end
    end
    return own_loop(true)
end

-- The end of a script's own `thread_run`.
function program.end_events()
    if loop and coroutine.status(loop) == "suspended" then
        return own_loop(false)
    end
    return true
end

-- The functions of sysbench that scripts call through `ffi.C`; other names are those of the system's libraries.
ffi.cdef([[
typedef enum { SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_ERROR = 4, SB_CNT_RECONNECT, SB_CNT_MAX } sb_counter_type;
]])
local C = ffi.C
local of_sysbench = {
    sb_counter_inc = function(_, counter) count(tonumber(counter)) end,
    sb_more_events = function() return coroutine.yield() end,
    sb_event_start = function() end,
    sb_event_stop = function() end,
}
ffi.C = setmetatable(of_sysbench, {
    __index = function(_, name) return C[name] end,
    __newindex = function(_, name, value) C[name] = value end,
})

return program
