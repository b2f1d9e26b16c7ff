import { describe, expect, it } from 'vitest';
import { integerBetween } from './request.js';
import { requests } from './requests.js';

const SECRET = `whsec_${'A'.repeat(43)}=`;

describe('a whole number as people type it', () => {
  const number = integerBetween(1, 65_535, 'No.');

  it.each([
    [514, 514],
    ['514', 514],
    [' 514 ', 514],
    ['５１４', 514],
    ['٥١٤', 514],
    ['५१४', 514],
    ['\u200e514\u200f', 514],
    ['0514', 514],
  ])('%j is %d', (typed, expected) => {
    expect(number.parse(typed)).toBe(expected);
  });

  it.each(['', '½', '5²', '⑫', '\u202e514', '5 14', '5.0', '5e2', '-1', '0', '65536', '99999999999999999', [1], null])(
    '%j is not a port',
    (typed) => {
      expect(number.safeParse(typed).error?.issues[0]?.message).toBe('No.');
    },
  );
});

describe('an alert channel as people type it', () => {
  it('is parsed with a normalized host and port', () => {
    const typed = { host: ' ｌｏｇ．ｅｘａｍｐｌｅ\u200b', port: '６５１４', protocol: 'tcp' };
    expect(requests['update:alert_syslog'].schema.parse(typed)).toEqual({
      ...{ host: 'log.example', port: 6514, protocol: 'tcp', framing: 'octets' },
    });
    expect(requests['update:alert_syslog'].schema.parse({ host: '' })).toEqual({
      ...{ host: '', port: 514, protocol: 'udp', framing: 'octets' },
    });
  });

  it.each(['0', '65536', '½', 'syslog', ''])('refuses the port %j', (port) => {
    expect(
      requests['update:alert_syslog'].schema.safeParse({ host: 'log.example', port }).error?.issues[0],
    ).toMatchObject({
      ...{ path: ['port'], message: 'Use a port from 1 to 65535.' },
    });
  });

  it('is parsed without invisible characters in its URL and secret', () => {
    const url = 'https://hooks.example/a?b=1';
    const request = requests['update:alert_webhook'].schema.parse({
      url: `\ufeff${url}\u200b `,
      secret: `\u2060${SECRET}\n`,
    });
    expect(request).toEqual({ url, secret: SECRET });
    expect(requests['update:alert_slack'].schema.parse({ url: ` ${url}\u2060` })).toEqual({ url });
  });

  it('keeps other scripts in its URL, because hosts and paths may contain them', () => {
    const url = 'https://bücher.example/größe?٣=½';
    expect(requests['update:alert_webhook'].schema.parse({ url })).toEqual({ url });
  });
});

describe('an address to block as people type it', () => {
  it.each([
    [' 192.0.2.1, ', '192.0.2.1'],
    ['１９２．０．２．０／２４', '192.0.2.0/24'],
    ['192.0.2.1\u2013192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['\u200e2001:db8::1', '2001:db8::1'],
  ])('%j is %j', (typed, address) => {
    expect(requests.blockAddresses.schema.parse({ address: typed })).toMatchObject({ address });
  });

  it.each([' ', '\u200b', '.,', '\ufeff \u2060'])('%j counts as missing', (address) => {
    expect(requests.blockAddresses.schema.safeParse({ address }).error?.issues[0]?.message).toBe(
      'This field is required.',
    );
  });
});
