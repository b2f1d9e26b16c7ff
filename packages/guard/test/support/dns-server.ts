import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

const TYPES: Readonly<Record<number, 'A' | 'PTR' | 'AAAA'>> = { 1: 'A', 12: 'PTR', 28: 'AAAA' };

/** The records of a DNS server: names and addresses by `TYPE name`, a raw response, or silence. */
export interface DnsServer {
  /** Value for `activity.dns`. */
  readonly address: string;
  /** Names with raw bytes are given as lists of labels. */
  readonly records: Map<string, readonly (string | readonly string[])[]>;
  /** `TYPE name` of each query, in order. */
  readonly queries: string[];
  silent: boolean;
}

/** A DNS server on a real UDP socket, closed after the test. Written from RFC 1035 section 4.1. */
export async function dnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const server: { -readonly [Name in keyof DnsServer]: DnsServer[Name] } = {
    address: '',
    records: new Map(),
    queries: [],
    silent: false,
  };
  socket.on('message', (query, peer) => {
    const { name, type, end } = readQuestion(query);
    server.queries.push(`${type} ${name}`);
    if (server.silent) return;
    const records = (server.records.get(`${type} ${name}`) ?? []).map((value) => record(type, value));
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    // A response, with recursion desired and available; 3 = no such name.
    head.writeUInt16BE(0x8180 | (records.length === 0 ? 3 : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  return server;
}

function readQuestion(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[query.readUInt16BE(at + 1)] ?? 'other';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** A resource record whose name is that of the query. */
function record(type: string, value: string | readonly string[]): Buffer {
  const data = type === 'PTR' ? encodedName(value) : addressBytes(String(value));
  const fixed = Buffer.from([0xc0, 0x0c, 0, type === 'PTR' ? 12 : type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 60]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  return Buffer.concat([fixed, length, data]);
}

function encodedName(name: string | readonly string[]): Buffer {
  const labels = typeof name === 'string' ? name.split('.') : name;
  const parts = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]));
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Dotted IPv4, or IPv6 with all eight groups. */
function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
