import { describe, expect, it } from 'vitest';
import { toRealAddressAdvice } from './server-behind.js';

describe('how the web server behind gets to see each visitor', () => {
  it.each([
    ['http://127.0.0.1:8081', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://127.0.0.9', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://localhost:8081', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://[::1]:8081', 'set_real_ip_from ::1;', 'RemoteIPInternalProxy ::1'],
    ['unix:/run/nginx/wordpress.sock', 'set_real_ip_from unix:;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://192.0.2.7:8081', 'set_real_ip_from ADDRESS_OF_GUARD;', 'RemoteIPInternalProxy ADDRESS_OF_GUARD'],
    ['http://wordpress:8081', 'set_real_ip_from ADDRESS_OF_GUARD;', 'RemoteIPInternalProxy ADDRESS_OF_GUARD'],
  ])('is told by where guard asks from: %s', (upstream, nginx, apache) => {
    expect(toRealAddressAdvice(upstream)).toContain(nginx);
    expect(toRealAddressAdvice(upstream)).toContain(apache);
  });
});
