-- The reports that hooks can write from figures: `sysbench.report_default`, `report_csv` and `report_json`.

-- The rates of the figures of an interval, in the order of a line.
local function rates(stat)
    local interval = stat.time_interval > 0 and stat.time_interval or 1
    local function rate(count)
        return count / interval
    end
    local queries = stat.reads + stat.writes + stat.other
    -- Intervals end up to a few milliseconds early.
    return math.floor(stat.time_total + 0.05), stat.threads_running, rate(stat.events), rate(queries), rate(stat.reads), rate(stat.writes),
        rate(stat.other), stat.latency_pct * 1000, rate(stat.errors), rate(stat.reconnects)
end

function sysbench.report_default(stat)
    local time, threads, tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
    print(("[ %.0fs ] thds: %d tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%d%%): %4.2f err/s %4.2f reconn/s: %4.2f")
        :format(time, threads, tps, qps, reads, writes, other, sysbench.opt.percentile, latency, errors, reconnects))
end

function sysbench.report_csv(stat)
    local time, threads, tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
    print(("%.0f,%d,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f")
        :format(time, threads, tps, qps, reads, writes, other, latency, errors, reconnects))
end

local is_in_array = false

-- An element of an array, which the figures of the whole run end.
function sysbench.report_json(stat)
    local time, threads, tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
    io.write(is_in_array and ",\n" or "[\n", ([[
  {
    "time": %4.0f,
    "threads": %d,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]]):format(time, threads, tps, qps, reads, writes, other, latency, errors, reconnects))
    is_in_array = true
end

-- Ends the array.
return function()
    if is_in_array then
        io.write("\n]\n")
        is_in_array = false
    end
end
