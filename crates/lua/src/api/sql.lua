-- `sysbench.sql`: drivers, connections, prepared statements and results, over the functions of the program (`native`).
local native = ...

local RESTART_EVENT = sysbench.error.RESTART_EVENT

sysbench.sql = {
    error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
    type = {
        NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6,
        TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
    },
}
local error_kind, sql_type = sysbench.sql.error, sysbench.sql.type

local function class(name)
    local class = { __tostring = function() return "<sql_" .. name .. ">" end }
    class.__index = class
    return class
end

local Driver, Connection, Statement, Param, Result =
    class("driver"), class("connection"), class("statement"), class("param"), class("result")

-- Raises a mistake in a call of the script where the script calls.
local function misused(message)
    error(message, 3)
end

-- Raises the error of a statement: a table that restarts the event if the error can be ignored, else a text.
local function failed(con, query, message, errno, state, is_ignorable)
    if not errno then
        error(message, 3)
    end
    con.error = is_ignorable and error_kind.IGNORABLE or error_kind.FATAL
    con.sql_errno, con.sql_state, con.sql_errmsg = errno, state, message
    if is_ignorable then
        error({ errcode = RESTART_EVENT, connection = con }, 3)
    end
    local hook = sysbench.hooks.sql_error_ignorable
    if hook then
        local err = { connection = con, query = query, sql_errno = errno, sql_state = state, sql_errmsg = message }
        if hook(err) then
            con.error = error_kind.IGNORABLE
            native.ignore(con.native)
            error({ errcode = RESTART_EVENT, connection = con }, 3)
        end
    end
    native.complain(con.native)
    error(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message), 3)
end

local function new_result(rows, nrows, nfields)
    return setmetatable({ native = rows, nrows = nrows, nfields = nfields }, Result)
end

function sysbench.sql.driver(name)
    local driver, err = native.driver(name or sysbench.opt.db_driver)
    if not driver then
        misused(err)
    end
    return setmetatable({ driver = driver }, Driver)
end

function Driver:name()
    return self.driver
end

function Driver:connect()
    local is_done, con = native.connect(self.driver)
    if not is_done then
        misused(con)
    end
    return setmetatable({
        native = con, driver = self.driver, error = error_kind.NONE, sql_errno = 0, sql_state = "", sql_errmsg = "",
    }, Connection)
end

function Connection:query(text)
    if type(text) ~= "string" then
        misused("query() needs the text of a statement, not a " .. type(text))
    end
    local is_done, rows, nrows, nfields, is_ignorable = native.query(self.native, text)
    if not is_done then
        failed(self, text, rows, nrows, nfields, is_ignorable)
    end
    return new_result(rows, nrows, nfields)
end

function Connection:query_row(text)
    if type(text) ~= "string" then
        misused("query_row() needs the text of a statement, not a " .. type(text))
    end
    local is_done, rows, nrows, nfields, is_ignorable = native.query(self.native, text)
    if not is_done then
        failed(self, text, rows, nrows, nfields, is_ignorable)
    end
    if nrows == 0 then
        return nil
    end
    return unpack(native.fetch(rows), 1, nfields)
end

function Connection:bulk_insert_init(text)
    if type(text) ~= "string" then
        misused("bulk_insert_init() needs the beginning of a statement, not a " .. type(text))
    end
    native.bulk_init(self.native, text)
    self.bulk_text = text
end

function Connection:bulk_insert_next(values)
    if type(values) ~= "string" then
        misused("bulk_insert_next() needs the text of a row, not a " .. type(values))
    end
    local is_done, message, errno, state, is_ignorable = native.bulk_next(self.native, values)
    if not is_done then
        failed(self, self.bulk_text, message, errno, state, is_ignorable)
    end
end

function Connection:bulk_insert_done()
    local is_done, message, errno, state, is_ignorable = native.bulk_done(self.native)
    if not is_done then
        failed(self, self.bulk_text, message, errno, state, is_ignorable)
    end
    return true
end

function Connection:prepare(text)
    if type(text) ~= "string" then
        misused("prepare() needs the text of a statement, not a " .. type(text))
    end
    local is_done, id, errno, state, is_ignorable = native.prepare(self.native, text)
    if not is_done then
        if errno and not is_ignorable then
            -- sysbench gives no reason here, but in the lines before.
            self.error, self.sql_errno, self.sql_state, self.sql_errmsg = error_kind.FATAL, errno, state, id
            native.complain(self.native)
            error("SQL API error", 2)
        end
        failed(self, text, id, errno, state, is_ignorable)
    end
    return setmetatable({ id = id, connection = self, text = text, params = {}, kinds = "" }, Statement)
end

function Connection:disconnect()
    native.disconnect(self.native)
    return true
end

function Connection:reconnect()
    local is_done, message, errno, state, is_ignorable = native.reconnect(self.native)
    if not is_done then
        failed(self, "", message, errno, state, is_ignorable)
    end
    return true
end

-- The kinds of parameters by type: an integer, a number with a fraction or a text.
local kind_of_type = {
    [sql_type.TINYINT] = "i", [sql_type.SMALLINT] = "i", [sql_type.INT] = "i", [sql_type.BIGINT] = "i",
    [sql_type.FLOAT] = "d", [sql_type.DOUBLE] = "d",
    [sql_type.CHAR] = "s", [sql_type.VARCHAR] = "s",
    [sql_type.TIME] = "s", [sql_type.DATE] = "s", [sql_type.DATETIME] = "s", [sql_type.TIMESTAMP] = "s",
}

function Statement:bind_create(type_of_param, max_length)
    local kind = kind_of_type[type_of_param]
    if not kind then
        misused("Unsupported argument type: " .. tostring(type_of_param))
    end
    return setmetatable({ kind = kind, max_length = max_length }, Param)
end

function Statement:bind_param(...)
    local kinds = {}
    for i = 1, select("#", ...) do
        local param = select(i, ...)
        if getmetatable(param) ~= Param then
            misused("bind_param() needs what bind_create() has made; number " .. i .. " is a " .. type(param))
        end
        kinds[i] = param.kind
    end
    self.params, self.kinds = { ... }, table.concat(kinds)
end

function Statement:execute()
    local params = self.params
    local values = {}
    for i = 1, #params do
        values[i] = params[i].value
    end
    local con = self.connection
    local is_done, rows, nrows, nfields, is_ignorable =
        native.execute(con.native, self.id, self.kinds, unpack(values, 1, #params))
    if not is_done then
        failed(con, self.text, rows, nrows, nfields, is_ignorable)
    end
    return new_result(rows, nrows, nfields)
end

function Statement:close()
    native.close(self.connection.native, self.id)
    return true
end

function Param:set(value)
    if value == nil then
        self.value = nil
    elseif self.kind == "s" then
        if type(value) ~= "string" and type(value) ~= "number" then
            misused("a text parameter cannot be a " .. type(value))
        end
        self.value = tostring(value)
        if self.max_length then
            self.value = self.value:sub(1, self.max_length)
        end
    elseif type(value) == "cdata" then
        -- A number of 64 bits, whose text is exact.
        self.value = tostring(value):match("^-?%d+")
    elseif type(value) == "boolean" then
        self.value = value and 1 or 0
    else
        self.value = tonumber(value)
    end
    if self.value == nil and value ~= nil then
        misused("a number parameter cannot be '" .. tostring(value) .. "'")
    end
end

function Param:set_rand_str(format)
    if self.kind ~= "s" then
        misused("set_rand_str() is for text parameters")
    end
    self.value = sysbench.rand.string(format)
end

-- The next row, or nil after the last one.
function Result:fetch_row()
    return self.native and native.fetch(self.native) or nil
end

function Result:free()
    self.native = nil
    return true
end
