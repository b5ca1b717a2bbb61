-- `sysbench.rand`. Numbers come from functions of the program that LuaJIT calls as it calls those of C libraries.
local native = ...
local ffi = require("ffi")

local function of_range(address)
    local draw = ffi.cast("uint32_t (*)(uint32_t, uint32_t)", address)
    return function(first, last) return draw(first, last) end
end

local unique = ffi.cast("uint32_t (*)()", native.unique)
local uniform_double = ffi.cast("double (*)()", native.uniform_double)
local uniform_uint64 = ffi.cast("uint64_t (*)()", native.uniform_uint64)

sysbench.rand = {
    default = of_range(native.default),
    uniform = of_range(native.uniform),
    gaussian = of_range(native.gaussian),
    special = of_range(native.special),
    pareto = of_range(native.pareto),
    zipfian = of_range(native.zipfian),
    unique = function() return unique() end,
    uniform_double = function() return uniform_double() end,
    uniform_uint64 = function() return uniform_uint64() end,
}

-- A text like `format`, in which each # is a digit and each @ a small letter.
function sysbench.rand.string(format)
    if type(format) ~= "string" then
        error("sysbench.rand.string() needs a format, not a " .. type(format), 2)
    end
    return native.string(format)
end

-- A text of small letters.
function sysbench.rand.varstring(shortest, longest)
    shortest, longest = tonumber(shortest), tonumber(longest)
    if not shortest or not longest or shortest < 0 or longest < shortest then
        error("sysbench.rand.varstring() needs the shortest and the longest length", 2)
    end
    return native.varstring(shortest, longest)
end
