-- Tables of a shop, in the style of a published TPC-C for sysbench: stock of items, customers with balances, and orders with their lines.

ffi = require("ffi")
ffi.cdef("void sb_counter_inc(int, sb_counter_type);")

if sysbench.cmdline.command == nil then
    error("a command is required: prepare, run, check or cleanup")
end

sysbench.cmdline.options = {
    shops = { "Number of shops", 2 },
    items = { "Number of items of a shop", 50 },
    customers = { "Number of customers of a shop", 20 },
    level = { "Isolation level: RR or RC", "RR" },
    csv = { "Report intervals as CSV", false },
}

function connect()
    local drv = sysbench.sql.driver()
    local con = drv:connect()
    if drv:name() == "mysql" then
        local level = sysbench.opt.level == "RR" and "REPEATABLE READ" or "READ COMMITTED"
        con:query("SET SESSION TRANSACTION ISOLATION LEVEL " .. level)
    end
    return drv, con
end

local function create_tables(drv, con)
    local engine = drv:name() == "mysql" and "/*! ENGINE = InnoDB */" or ""
    con:query("CREATE TABLE item(i_shop INTEGER, i_id INTEGER, i_name VARCHAR(24), i_price DECIMAL(5, 2), i_left INTEGER, PRIMARY KEY (i_shop, i_id)) " .. engine)
    con:query("CREATE TABLE customer(c_shop INTEGER, c_id INTEGER, c_name VARCHAR(16), c_balance DECIMAL(12, 2), c_note VARCHAR(40), PRIMARY KEY (c_shop, c_id)) " .. engine)
    con:query("CREATE TABLE orders(o_shop INTEGER, o_id INTEGER, o_customer INTEGER, o_lines INTEGER, o_total DECIMAL(12, 2), PRIMARY KEY (o_shop, o_id)) " .. engine)
    con:query("CREATE TABLE line(l_shop INTEGER, l_order INTEGER, l_number INTEGER, l_item INTEGER, l_count INTEGER, PRIMARY KEY (l_shop, l_order, l_number)) " .. engine)
    con:query("CREATE TABLE shop(s_id INTEGER PRIMARY KEY, s_next INTEGER) " .. engine)
end

local function load_shop(con, shop)
    con:bulk_insert_init("INSERT INTO item (i_shop, i_id, i_name, i_price, i_left) VALUES")
    for i = 1, sysbench.opt.items do
        con:bulk_insert_next(string.format("(%d, %d, '%s', %.2f, 1000000)", shop, i, sysbench.rand.string("item-@@@@##"),
            sysbench.rand.uniform_double() * 100))
    end
    con:bulk_insert_done()
    con:bulk_insert_init("INSERT INTO customer (c_shop, c_id, c_name, c_balance, c_note) VALUES")
    for i = 1, sysbench.opt.customers do
        con:bulk_insert_next(("(%d, %d, '%s', 0, NULL)"):format(shop, i, sysbench.rand.string("@@@@@@@@")))
    end
    con:bulk_insert_done()
    con:query(("INSERT INTO shop VALUES (%d, 1)"):format(shop))
end

-- Each thread loads the shops that belong to it.
local function each_shop(f)
    for shop = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.shops, sysbench.opt.threads do
        f(shop)
    end
end

function prepare_shops()
    local drv, con = connect()
    if sysbench.tid == 0 then
        create_tables(drv, con)
    end
    -- The others wait until the last table is there.
    while not pcall(function() con:query("SELECT * FROM shop") end) do
        ffi.C.usleep(10000)
    end
    each_shop(function(shop)
        print(("loading shop %d"):format(shop))
        load_shop(con, shop)
    end)
    con:disconnect()
end
ffi.cdef("int usleep(unsigned int);")

-- Totals of orders and of their customers agree, and so do numbers of lines.
local function check_shops()
    local _, con = connect()
    each_shop(function(shop)
        local balance = con:query_row("SELECT SUM(c_balance) FROM customer WHERE c_shop=" .. shop)
        local count, total, lines = con:query_row("SELECT COUNT(*), SUM(o_total), SUM(o_lines) FROM orders WHERE o_shop=" .. shop)
        local found = con:query_row("SELECT COUNT(*) FROM line WHERE l_shop=" .. shop)
        local next_order = con:query_row("SELECT s_next FROM shop WHERE s_id=" .. shop)
        local rs = con:query("SELECT i_id, i_left FROM item WHERE i_shop=" .. shop .. " ORDER BY i_id")
        assert(rs.nrows == sysbench.opt.items and rs.nfields == 2)
        local sold = 0
        for i = 1, rs.nrows do
            local row = rs:fetch_row()
            assert(tonumber(row[1]) == i)
            sold = sold + 1000000 - row[2]
        end
        rs:free()
        local counted = con:query_row("SELECT COALESCE(SUM(l_count), 0) FROM line WHERE l_shop=" .. shop)
        local is_right = tonumber(balance) == tonumber(total or 0) and tonumber(lines or 0) == tonumber(found)
            and tonumber(next_order) == tonumber(count) + 1 and sold == tonumber(counted)
        print(("shop %d: %s orders, %s"):format(shop, count, is_right and "PASSED" or "FAILED"))
    end)
    con:disconnect()
end

function cleanup()
    local _, con = connect()
    for _, name in ipairs({ "item", "customer", "orders", "line", "shop" }) do
        print("Dropping table '" .. name .. "'")
        con:query("DROP TABLE IF EXISTS " .. name)
    end
end

sysbench.cmdline.commands = {
    prepare = { prepare_shops, sysbench.cmdline.PARALLEL_COMMAND },
    check = { check_shops, sysbench.cmdline.PARALLEL_COMMAND },
}
