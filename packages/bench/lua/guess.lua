-- As report.lua, and guesses passwords as a botnet does: the login form with another password each time, for one of
-- three accounts, from one of BENCH_ADDRESSES addresses as a proxy names them, one after the other, as fast as they are
-- answered.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

local addresses = tonumber(os.getenv('BENCH_ADDRESSES')) or 1
local accounts = { 'owner', 'admin', 'editor' }
local made = 0

request = function()
  made = made + 1
  local address = made % addresses
  local body = string.format('log=%s&pwd=guess-%d&wp-submit=Log+In&testcookie=1', accounts[made % 3 + 1], made)
  return string.format(
    'POST /wp-login.php HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: 2001:db8:%x:%x::1\r\n' ..
    'Cookie: wordpress_test_cookie=WP%%20Cookie%%20check\r\nContent-Type: application/x-www-form-urlencoded\r\n' ..
    'Content-Length: %d\r\n\r\n%s',
    wrk.headers['Host'], math.floor(address / 65536), address % 65536, #body, body)
end
