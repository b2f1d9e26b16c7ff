import { describe, expect, it } from 'vitest';
import { toSiteUrl } from './main.js';
import { parseOptions, UsageError } from './options.js';

const read = (...args: string[]) => parseOptions(args, '/srv/data');

describe('the options of npm start', () => {
  it('have safe defaults: this machine only, any free port', () => {
    expect(read()).toEqual({
      host: '127.0.0.1',
      port: null,
      dataDir: '/srv/data',
      php: 'auto',
      wordpressVersion: null,
      fresh: false,
      json: false,
      help: false,
    });
  });

  it('are read in both spellings', () => {
    expect(read('--port', '9000', '--php=wasm', '--wordpress-version=6.4', '--host', '::1')).toMatchObject({
      port: 9000,
      php: 'wasm',
      wordpressVersion: '6.4',
      host: '::1',
    });
  });

  it.each([
    [['--port', '0'], '--port takes a whole number from 1 to 65535'],
    [['--port', '65536'], '--port takes a whole number from 1 to 65535'],
    [['--port', '80a'], '--port takes a whole number from 1 to 65535'],
    [['--port', '1e3'], '--port takes a whole number from 1 to 65535'],
    [['--host', '127.0.0.1:80'], '--host takes an IP address or a host name'],
    [['--host', '999.1.1.1'], '--host takes an IP address or a host name'],
    [['--php', 'apache'], '--php takes native or wasm'],
    [['--wordpress-version', 'latest'], '--wordpress-version takes 6.5'],
    [['--wordpress-version', '../6.5'], '--wordpress-version takes 6.5'],
    [['--data-dir', ''], '--data-dir takes the path of a folder'],
    [['--verbose'], "Unknown option '--verbose'"],
    [['now'], "Unexpected argument 'now'"],
    [['--port'], "Option '--port <value>' argument missing"],
  ])('refuse %j, naming the option and what is allowed', (args, message) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow(message);
  });
});

describe('the address of the site', () => {
  it.each([
    ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
    ['127.0.0.1', 80, 'http://127.0.0.1'],
    ['::1', 8080, 'http://[::1]:8080'],
    ['0.0.0.0', 8080, 'http://localhost:8080'],
    ['::', 8080, 'http://localhost:8080'],
    ['example.com', 8080, 'http://example.com:8080'],
  ])('for %s port %i is %s', (host, port, url) => {
    expect(toSiteUrl(host, port)).toBe(url);
  });
});
