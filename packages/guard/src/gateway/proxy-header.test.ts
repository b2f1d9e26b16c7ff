import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binaryHeader, ipv4, ipv6, tlsTlv, tlv } from '../../test/support/proxy-headers.js';
import { parseProxyHeader } from './proxy-header.js';

const parse = (text: string) => parseProxyHeader(Buffer.from(text, 'latin1'));
const readSource = (bytes: Buffer) => {
  const header = parseProxyHeader(bytes);
  return typeof header === 'string' ? header : (header.source?.text ?? null);
};

describe('a PROXY header of version 1', () => {
  it('names the source of the connection', () => {
    expect(parse('PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\nGET')).toEqual({
      length: 43,
      source: expect.objectContaining({ text: '192.0.2.7', family: 4 }),
      isEncrypted: false,
    });
    expect(parse('PROXY TCP6 2001:DB8::7 2001:db8::1 4711 443\r\n')).toMatchObject({
      source: { text: '2001:db8::7', family: 6 },
      isEncrypted: true,
    });
    // The same visitor, whatever address family the proxy listens on.
    expect(parse('PROXY TCP6 ::ffff:192.0.2.7 ::ffff:198.51.100.1 1 2\r\n')).toMatchObject({
      source: { text: '192.0.2.7', family: 4 },
    });
  });

  it('may name no source', () => {
    for (const line of ['PROXY UNKNOWN\r\n', 'PROXY UNKNOWN ffff:f...f:ffff 65535 anything\r\n']) {
      expect(parse(line)).toEqual({ length: line.length, source: null, isEncrypted: false });
    }
  });

  it.each([
    'GET / HTTP/1.1\r\n',
    'proxy TCP4 192.0.2.7 198.51.100.1 1 2\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 1 2\n',
    'PROXY  TCP4 192.0.2.7 198.51.100.1 1 2\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 1\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 1 65536\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 01 2\r\n',
    'PROXY TCP4 192.0.2.07 198.51.100.1 1 2\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100 1 2\r\n',
    'PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n',
    'PROXY TCP6 192.0.2.7 198.51.100.1 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n',
    'PROXY TCP4 localhost 198.51.100.1 1 2\r\n',
    'PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY\r\n',
    'PROXY TCP4 192.0.2.7\0',
    'PROXY TCP4 192.0.2.7\rX',
  ])('is malformed as %j', (text) => {
    expect(parse(text)).toBe('malformed');
  });

  it('has at most 107 bytes', () => {
    const longest = `PROXY UNKNOWN ${'x'.repeat(107 - 16)}\r\n`;
    expect(longest).toHaveLength(107);
    expect(parse(longest)).toMatchObject({ length: 107 });
    expect(parse(longest.slice(0, 106))).toBe('incomplete');
    expect(parse(longest.replace('\r\n', 'x\r\n'))).toBe('malformed');
    expect(parse(`PROXY UNKNOWN ${'x'.repeat(93)}`)).toBe('malformed');
  });
});

describe('a PROXY header of version 2', () => {
  it('names the source of the connection', () => {
    expect(parseProxyHeader(Buffer.concat([binaryHeader(), Buffer.from('GET')]))).toEqual({
      length: 28,
      source: expect.objectContaining({ text: '192.0.2.7', family: 4 }),
      isEncrypted: false,
    });
    const six = ipv6('20010db8000000000000000000000007', 443);
    expect(parseProxyHeader(binaryHeader({ family: 0x21, addresses: six }))).toMatchObject({
      length: 52,
      source: { text: '2001:db8::7' },
      isEncrypted: true,
    });
    const mapped = ipv6('00000000000000000000ffffc0000207', 80);
    expect(readSource(binaryHeader({ family: 0x21, addresses: mapped }))).toBe('192.0.2.7');
  });

  it('reports with a TLV whether the client’s connection was encrypted, whatever the port', () => {
    const encrypted = (toPort: number, tlvs: Buffer) =>
      parseProxyHeader(binaryHeader({ addresses: ipv4('192.0.2.7', toPort), tlvs }));
    expect(encrypted(8443, tlsTlv(1))).toMatchObject({ isEncrypted: true });
    expect(encrypted(443, tlsTlv(0))).toMatchObject({ isEncrypted: false });
    expect(encrypted(443, tlv(0x04, Buffer.alloc(4)))).toMatchObject({ isEncrypted: true });
  });

  it('keeps the peer when the connection is the proxy’s own, or is not a network connection', () => {
    const garbage = Buffer.from('anything at all');
    expect(readSource(binaryHeader({ command: 0x20, addresses: garbage }))).toBeNull();
    expect(readSource(binaryHeader({ command: 0x20, family: 0xff, addresses: Buffer.alloc(0) }))).toBeNull();
    expect(readSource(binaryHeader({ family: 0x00, addresses: garbage }))).toBeNull();
    expect(readSource(binaryHeader({ family: 0x31, addresses: Buffer.alloc(216) }))).toBeNull();
  });

  it.each([
    ['an unknown version', { command: 0x11 }],
    ['an unknown command', { command: 0x22 }],
    ['datagrams', { family: 0x12 }],
    ['an unknown family', { family: 0x41 }],
    ['an unknown protocol', { family: 0x13 }],
    ['too few bytes for its addresses', { addresses: Buffer.alloc(11) }],
    ['too few bytes for its addresses, IPv6', { family: 0x21, addresses: Buffer.alloc(35) }],
    ['an incomplete TLV', { tlvs: Buffer.from([0x04, 0]) }],
    ['a TLV that is longer than the header', { tlvs: Buffer.from([0x04, 0, 9, 1, 2]) }],
    ['a TLV that is longer than any header', { tlvs: Buffer.from([0x04, 0xff, 0xff]) }],
    ['a TLS TLV without its fields', { tlvs: tlv(0x20, Buffer.from([1])) }],
    ['a checksum of the wrong length', { tlvs: tlv(0x03, Buffer.alloc(3)) }],
    ['a wrong checksum', { tlvs: tlv(0x03, Buffer.alloc(4)) }],
    ['more than 536 bytes', { tlvs: tlv(0x04, Buffer.alloc(506)) }],
    ['a length that the header never reaches', { length: 0xffff }],
  ])('is malformed with %s', (_what, parts) => {
    expect(parseProxyHeader(binaryHeader(parts))).toBe('malformed');
  });

  it('has at most 536 bytes', () => {
    const longest = binaryHeader({ tlvs: tlv(0x04, Buffer.alloc(505)) });
    expect(parseProxyHeader(longest)).toMatchObject({ length: 536 });
  });

  it('must match its checksum', () => {
    // The check value of CRC-32C is defined for the digits 1 to 9, which no header contains. This one was computed
    // separately.
    const header = binaryHeader({ tlvs: tlv(0x03, Buffer.alloc(4)) });
    let crc = 0xffffffff;
    for (const byte of header) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    header.writeUInt32BE(~crc >>> 0, header.length - 4);
    expect(readSource(header)).toBe('192.0.2.7');
    header.writeUInt8(9, 16);
    expect(parseProxyHeader(header)).toBe('malformed');
  });

  it('is malformed at the first wrong byte', () => {
    for (const [at, byte] of [
      [0, 'x'],
      [5, 'x'],
      [12, 'x'],
    ] as const) {
      const begun = binaryHeader().subarray(0, at + 1);
      begun.write(byte, at);
      expect(parseProxyHeader(begun)).toBe('malformed');
    }
  });
});

const valid = [
  Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\n'),
  Buffer.from('PROXY UNKNOWN\r\n'),
  binaryHeader(),
  binaryHeader({ tlvs: Buffer.concat([tlsTlv(1), tlv(0xee, Buffer.alloc(40))]) }),
];

describe('parseProxyHeader', () => {
  it('waits for more bytes until the header is complete', () => {
    for (const header of valid) {
      for (let at = 0; at < header.length; at++) expect(parseProxyHeader(header.subarray(0, at))).toBe('incomplete');
      expect(parseProxyHeader(header)).toMatchObject({ length: header.length });
    }
  });

  it('never throws, and never waits for more than 536 bytes, whatever is sent', () => {
    const begun = fc.constantFrom(...valid, Buffer.from('PROXY TCP4 '), binaryHeader().subarray(0, 12));
    const bytes = fc
      .tuple(begun, fc.nat(60), fc.uint8Array({ maxLength: 700 }))
      .map(([head, cut, rest]) => Buffer.concat([head.subarray(0, cut), rest]));
    fc.assert(
      fc.property(bytes, (sent) => {
        const header = parseProxyHeader(sent);
        if (header === 'incomplete') expect(sent.length).toBeLessThan(536);
        else if (header !== 'malformed') expect(header.length).toBeLessThanOrEqual(sent.length);
      }),
      { numRuns: 5000 },
    );
  });
});
