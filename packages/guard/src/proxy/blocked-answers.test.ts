import { Socket } from 'node:net';
import { defaultSecurityOptions } from '@security-optimizer/contract/protections';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { defaultLoginSettings } from '../login/login-settings.js';
import { compilePolicy } from '../policy/compile-policy.js';
import { defaultSitePaths } from '../site.js';
import { type Blocked, blockedPage, plainBlocked } from './blocked-answers.js';
import { reference } from './request-id.js';

const NOON = Date.UTC(2026, 0, 5, 12, 0, 0);

function policyWith(xss: 0 | 1) {
  return compilePolicy({
    options: { ...defaultSecurityOptions, xss_protection: xss },
    paths: defaultSitePaths,
    blocked: AddressSet.from(['198.51.100.0/24']),
    login: defaultLoginSettings,
    timeZone: 'UTC',
  });
}

function visitor(more: Partial<Blocked> & { ip?: string } = {}): Blocked {
  const address = parseAddress(more.ip ?? '198.51.100.7');
  if (address === null) throw new Error('not an address');
  return { policy, address, host: 'example.com', now: NOON, onFault: () => {}, ...more };
}

const policy = policyWith(1);
const ID = '00aabb0000000001';

/** The page as one request gets it, one character per byte. */
function pageFor(blocked: Blocked, requestId: string): string {
  const socket = new Socket();
  let sent = '';
  socket.write = (bytes: unknown) => {
    sent += (bytes as Buffer).toString('latin1');
    return true;
  };
  blockedPage(blocked).send(socket, requestId);
  return sent;
}

/** Head and body, as bytes on the wire. */
function parts(answer: string): { head: string; body: Buffer } {
  const end = answer.indexOf('\r\n\r\n');
  return { head: answer.slice(0, end), body: Buffer.from(answer.slice(end + 4), 'latin1') };
}

describe('the page for a blocked browser', () => {
  it('announces exactly as many bytes as it has', () => {
    const { head, body } = parts(pageFor(visitor(), ID));
    expect(/Content-Length: (\d+)/.exec(head)?.[1]).toBe(String(body.length));
  });

  it('carries the reference of its own request, also when the rest was made before', () => {
    const first = pageFor(visitor(), ID);
    const second = pageFor(visitor(), '00aabb0000000002');
    expect(first).toContain(reference(ID));
    expect(second).toContain(reference('00aabb0000000002'));
    expect(second.replace(reference('00aabb0000000002'), reference(ID))).toBe(first);
  });

  it('never shows one visitor the address or host of another', () => {
    pageFor(visitor(), ID);
    const other = pageFor(visitor({ ip: '198.51.100.8', host: 'example.org' }), ID);
    expect(other).toContain('198.51.100.8');
    expect(other).toContain('example.org');
    expect(other).not.toContain('198.51.100.7');
    expect(other).not.toContain('example.com');
  });

  it('is made anew in the next second', () => {
    pageFor(visitor(), ID);
    expect(pageFor(visitor({ now: NOON + 61_000 }), ID)).toContain('Date: Mon, 05 Jan 2026 12:01:01 GMT');
  });

  it('is made anew with the next snapshot', () => {
    expect(pageFor(visitor(), ID)).toContain('Content-Security-Policy');
    expect(pageFor(visitor({ policy: policyWith(0) }), ID)).not.toContain('Content-Security-Policy');
  });

  it('is right for every host when there are more of them than are kept', () => {
    for (let number = 0; number < 200; number++) {
      const host = `host-${number}.example.com`;
      expect(pageFor(visitor({ host }), ID)).toContain(`</i>${host}</header>`);
    }
  });

  it('survives a host name that looks like the place of the reference', () => {
    const { head, body } = parts(pageFor(visitor({ host: '0000-0000' }), ID));
    expect(/Content-Length: (\d+)/.exec(head)?.[1]).toBe(String(body.length));
    expect(body.toString()).toContain(reference(ID));
  });
});

describe('the plain answer', () => {
  it('is made once for everyone within a second', () => {
    const first = plainBlocked(visitor());
    expect(plainBlocked(visitor({ ip: '198.51.100.9', now: NOON + 999 }))).toBe(first);
    expect(plainBlocked(visitor({ now: NOON + 1000 })).toString()).toContain('12:00:01 GMT');
  });
});
