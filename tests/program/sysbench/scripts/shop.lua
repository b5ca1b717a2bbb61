#!/usr/bin/env sysbench
-- Orders of a shop: transactions of many statements, one in ten of which is rolled back, and reports as CSV.

require("shop_common")

function thread_init()
    drv, con = connect()
    price = con:prepare("SELECT i_price, i_name FROM item WHERE i_shop=? AND i_id=?")
    price_shop, price_item = price:bind_create(sysbench.sql.type.INT), price:bind_create(sysbench.sql.type.INT)
    price:bind_param(price_shop, price_item)
    note = con:prepare("UPDATE customer SET c_note=? WHERE c_shop=? AND c_id=?")
    note_text = note:bind_create(sysbench.sql.type.VARCHAR, 40)
    note_shop, note_customer = note:bind_create(sysbench.sql.type.INT), note:bind_create(sysbench.sql.type.INT)
    note:bind_param(note_text, note_shop, note_customer)
end

local function order()
    local shop = sysbench.rand.uniform(1, sysbench.opt.shops)
    local customer = sysbench.rand.default(1, sysbench.opt.customers)
    local lines = sysbench.rand.uniform(1, 5)
    con:query("BEGIN")
    local id = con:query_row(("SELECT s_next FROM shop WHERE s_id=%d FOR UPDATE"):format(shop))
    con:query(("UPDATE shop SET s_next=%d WHERE s_id=%d"):format(id + 1, shop))
    local total = 0
    for number = 1, lines do
        local item, count = sysbench.rand.uniform(1, sysbench.opt.items), sysbench.rand.uniform(1, 9)
        local cents
        if number == 1 then
            price_shop:set(shop)
            price_item:set(item)
            assert(price:execute().nrows == 1)
        end
        local rs = con:query(("SELECT i_price, i_name FROM item WHERE i_shop=%d AND i_id=%d"):format(shop, item))
        cents = unpack(rs:fetch_row(), 1, rs.nfields) * 100
        total = total + count * cents
        con:query(("UPDATE item SET i_left=i_left-%d WHERE i_shop=%d AND i_id=%d"):format(count, shop, item))
        con:query(("INSERT INTO line (l_shop, l_order, l_number, l_item, l_count) VALUES (%d, %d, %d, %d, %d)")
            :format(shop, id, number, item, count))
    end
    if sysbench.rand.uniform(1, 10) == 1 then
        ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
        con:query("ROLLBACK")
        return
    end
    con:query(("INSERT INTO orders (o_shop, o_id, o_customer, o_lines, o_total) VALUES (%d, %d, %d, %d, %.2f)")
        :format(shop, id, customer, lines, total / 100))
    con:query(("UPDATE customer SET c_balance=c_balance+%.2f WHERE c_shop=%d AND c_id=%d"):format(total / 100, shop, customer))
    note_text:set_rand_str("@@@@-##")
    note_shop:set(shop)
    note_customer:set(customer)
    note:execute()
    con:query("COMMIT")
end

function event()
    -- Again until it succeeds, whatever the options say about errors.
    while not pcall(order) do
        ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
        con:query("ROLLBACK")
    end
end

function thread_done()
    con:disconnect()
end

function sysbench.hooks.report_intermediate(stat)
    if sysbench.opt.csv then
        sysbench.report_csv(stat)
    else
        sysbench.report_default(stat)
    end
end
