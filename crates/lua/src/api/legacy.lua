-- What scripts for versions before 1.0 use: one connection for each thread, made when it is first needed, and functions without `sysbench`.
-- Tail calls leave the place of an error to the script.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
mysql_table_engine = "innodb"
myisam_max_rows = 1000000

local connection

local function connected()
    if not connection then
        local driver = sysbench.sql.driver()
        db_driver = driver:name()
        connection = driver:connect()
    end
    return connection
end

function db_connect()
    connected()
end

function db_disconnect()
    if connection then
        connection:disconnect()
        connection = nil
    end
end

function db_query(text)
    return connected():query(text)
end

function db_bulk_insert_init(text)
    return connected():bulk_insert_init(text)
end

function db_bulk_insert_next(values)
    return connected():bulk_insert_next(values)
end

function db_bulk_insert_done()
    return connected():bulk_insert_done()
end

function db_prepare(text)
    return { statement = connected():prepare(text) }
end

-- The values are read from the table when the statement is executed.
function db_bind_param(stmt, values)
    stmt.values = values
    stmt.params = {}
    for i = 1, #values do
        local is_text = type(values[i]) == "string"
        stmt.params[i] = stmt.statement:bind_create(is_text and sysbench.sql.type.VARCHAR or sysbench.sql.type.BIGINT)
    end
    stmt.statement:bind_param(unpack(stmt.params))
end

function db_bind_result() end

function db_execute(stmt)
    for i, param in ipairs(stmt.params or {}) do
        param:set(stmt.values[i])
    end
    return stmt.statement:execute()
end

function db_store_results() end

function db_free_results(rs)
    return rs:free()
end

function db_close(stmt)
    return stmt.statement:close()
end

sysbench.db = {
    connect = db_connect, disconnect = db_disconnect, query = db_query,
    bulk_insert_init = db_bulk_insert_init, bulk_insert_next = db_bulk_insert_next, bulk_insert_done = db_bulk_insert_done,
    prepare = db_prepare, bind_param = db_bind_param, bind_result = db_bind_result, execute = db_execute,
    store_results = db_store_results, free_results = db_free_results, close = db_close,
    DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2,
}

local rand = sysbench.rand
sb_rand, sb_rand_uniform, sb_rand_gaussian, sb_rand_special, sb_rand_str =
    rand.default, rand.uniform, rand.gaussian, rand.special, rand.string

function sb_rnd()
    return rand.uniform(0, 1073741823)
end

function sb_rand_uniq(first, last)
    return first + rand.unique() % (last - first + 1)
end
