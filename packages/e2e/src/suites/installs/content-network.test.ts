import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request as requestByHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestByHttps } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { readRecord } from '@security-optimizer/sandbox/lib/process-record';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { shortAttacks } from '../../attacks/lists/index.js';
import { runAttacks } from '../../attacks/run.js';
import { AttackedSite, type Transport } from '../../attacks/site.js';
import { sendRaw } from '../../http/raw.js';
import { toBytes } from '../../http/request.js';
import { guardLog, securityOptimizer, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { type Certificate, makeCertificate, missingPrograms, nginxInFront } from './fronts.js';
import { configure, FORGED, type ProbedSite, readWho, startProbedSite, type Who } from './probed-site.js';
import { HOST, startNginx } from './site-behind.js';

/**
 * A content delivery network in front of guard, which connects from the addresses of a list: here those of 127.0.97.0/24.
 * Like Cloudflare it appends the visitor to `X-Forwarded-For` and names it in `CF-Connecting-IP` and `True-Client-IP`.
 */

const MINUTES = 60_000;
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
const [RANGE, OTHER_RANGE] = ['127.0.97.0/28', '127.0.97.16/28'];
const [PEER, OTHER_PEER] = ['127.0.97.1', '127.0.97.17'];

interface Network {
  readonly port: number;
  readonly server: Server;
  /** Address from which it connects. */
  peer: string;
}

/** @param ca certificate of the origin; without TLS when left out */
async function startNetwork(origin: number, ca?: string): Promise<Network> {
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const visitor = incoming.socket.remoteAddress as string;
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(incoming.headers)) if (value !== undefined) headers[name] = value;
    const before = headers['x-forwarded-for'];
    headers['x-forwarded-for'] = before === undefined ? visitor : `${before}, ${visitor}`;
    headers['cf-connecting-ip'] = visitor;
    headers['true-client-ip'] = visitor;
    headers['x-forwarded-proto'] = 'https';
    const options = {
      ...{ host: '127.0.0.1', port: origin, localAddress: network.peer, agent: false as const, headers },
      ...{ method: incoming.method, path: incoming.url },
      ...(ca === undefined ? {} : { ca, servername: HOST }),
    };
    const fail = () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(400).end());
    try {
      const request = ca === undefined ? requestByHttp(options) : requestByHttps(options);
      request.once('error', fail);
      request.once('response', (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      });
      incoming.pipe(request);
    } catch {
      // A target that this network can't send.
      fail();
    }
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const network: Network = { port: (server.address() as AddressInfo).port, server, peer: PEER };
  return network;
}

describe.skipIf(stack === undefined || missingPrograms('openssl').length > 0)(
  'a site behind a content delivery network',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join((stack as Stack | undefined)?.dir ?? '', 'network');
    let probed: ProbedSite & { readonly web: Service };
    let certificate: Certificate;
    let nginx: Service | undefined;
    let tls: number;
    const networks: Network[] = [];
    let visitors = 0;
    const nextVisitor = () => `127.0.92.${++visitors}`;

    beforeAll(async () => {
      probed = await startProbedSite(
        stack as Stack,
        dir,
        (site, log) => startNginx(site, { lines: `access_log ${log};` }),
        3,
      );
      const { site } = probed;
      writeList(`${RANGE}\n`);
      await configure(site, {
        trustedProxies: ['127.0.0.1', 'file:cdn-ranges.txt'],
        trustedProxyHeaders: ['CF-Connecting-IP', 'True-Client-IP'],
      });
      certificate = makeCertificate(join(dir, 'certificate'));
      tls = await findFreePort();
      const place = { dir: join(dir, 'nginx'), certificate, tls, guard: site.port };
      mkdirSync(place.dir);
      // "A web server between the network and guard must append".
      const append = (text: string) =>
        text.replace('X-Forwarded-For $remote_addr;', 'X-Forwarded-For $proxy_add_x_forwarded_for;');
      [nginx] = (await nginxInFront(append)(place)).services;
      networks.push(await startNetwork(site.port), await startNetwork(tls, certificate.ca));
    }, 5 * MINUTES);
    afterAll(async () => {
      for (const { server } of networks) server.close();
      await nginx?.stop();
      await stopGuard(probed.site);
      await probed.web.stop();
      removeLayouts(dir);
    });

    /** As in the guide: a new file, then its name. */
    function writeList(text: string): void {
      const list = join(probed.site.guardDir, 'cdn-ranges.txt');
      writeFileSync(`${list}.new`, text);
      renameSync(`${list}.new`, list);
    }

    /** What `systemctl reload` does. */
    const reload = () => process.kill(readRecord(join(probed.site.dir, 'run/guard.json'))?.pid as number, 'SIGHUP');

    const through =
      (network: Network | undefined): Transport =>
      (request, from = '127.0.92.250') =>
        sendRaw(network?.port as number, toBytes(probed.site, request), { from });

    const who = async (transport: Transport, visitor: string) =>
      readWho(await transport({ target: `/who.php?${++visitors}`, headers: FORGED }, visitor));

    const WAYS = [
      ['at guard itself', 0],
      ['at nginx in front of guard', 1],
    ] as const;

    it.each(WAYS)('names each visitor, whatever the visitor claims: the network is %s', async (_where, at) => {
      const visitor = nextVisitor();
      expect(await who(through(networks[at]), visitor)).toMatchObject({
        ...{ server: visitor, wordpress: visitor, https: true, forged: [], proxy: [visitor, visitor] },
      });
    });

    it.each(WAYS)('lets no attack succeed: the network is %s', async (_where, at) => {
      const site = await AttackedSite.meet(probed.about(through(networks[at])));
      const faults = (await runAttacks(site, { list: shortAttacks })).filter(({ ok }) => ok === false);
      expect(faults.map(({ attack, expected, got, twin }) => ({ attack, expected, got, twin }))).toEqual([]);
    });

    it('takes no address from a visitor who comes past the network', async () => {
      const visitor = nextVisitor();
      const toGuard: Transport = (request, from) =>
        sendRaw(probed.site.port, toBytes(probed.site, request), from === undefined ? {} : { from });
      const toNginx: Transport = (request, from) =>
        sendRaw(tls, toBytes(probed.site, request), {
          ...(from === undefined ? {} : { from }),
          ...{ tls: HOST, ca: certificate.ca },
        });
      expect(await who(toGuard, visitor)).toMatchObject({
        ...{ server: visitor, wordpress: visitor, https: false, forged: [], proxy: [null, null] },
      });
      // nginx hands on the headers of the network from everybody.
      expect(await who(toNginx, visitor)).toMatchObject({
        ...{ server: visitor, wordpress: visitor, https: true, forged: [], proxy: [visitor, visitor] },
      });
    });

    it('follows the list when guard reads it again, and drops no connection', async () => {
      const [first, second] = [
        new KeptConnection(probed.site.port, PEER),
        new KeptConnection(probed.site.port, OTHER_PEER),
      ];
      const visitor = '203.0.113.77';
      const seen = async () => {
        const found: string[] = [];
        for (const connection of [first, second]) {
          const { wordpress, proxy } = JSON.parse(await connection.get(visitor)) as Who;
          found.push(`${wordpress} ${proxy[0]}`);
        }
        return found;
      };
      const becomes = async (expected: readonly string[]) =>
        until(
          `guard sees ${expected.join(', ')}`,
          async () => JSON.stringify(await seen()) === JSON.stringify(expected),
        );
      const [trusted, asPeer, asOther] = [`${visitor} ${visitor}`, `${PEER} null`, `${OTHER_PEER} null`];
      await becomes([trusted, asOther]);
      writeList(`${RANGE}\n${OTHER_RANGE}\n`);
      reload();
      await becomes([trusted, trusted]);
      writeList(`${OTHER_RANGE}\n`);
      reload();
      await becomes([asPeer, trusted]);
      for (const [broken, mistake] of [
        ['', 'holds no address'],
        ['<html>\nA page in place of the list</html>\n', 'line 1 is no address or range'],
        [`${OTHER_RANGE}\n127.0.97.999\n`, 'line 2 is no address or range'],
      ] as const) {
        const failures = () => guardLog(probed.site).filter(({ event }) => event === 'configuration-reload-failed');
        const before = failures().length;
        writeList(broken);
        reload();
        await until('guard reports the mistake', () => failures().length > before);
        expect(JSON.stringify(failures().at(-1))).toContain(`cdn-ranges.txt: ${mistake}`);
        expect(await seen()).toEqual([asPeer, trusted]);
        const { stdout, stderr } = await securityOptimizer('status', '--data-dir', probed.site.guardDir);
        expect(stdout + stderr).toContain(`cdn-ranges.txt: ${mistake}`);
      }
      writeList(`${RANGE}\n`);
      reload();
      await becomes([trusted, asOther]);
      expect([first.isOpen, second.isOpen]).toEqual([true, true]);
    });
  },
);

/** A connection of the network to guard, which is kept for all its requests. */
class KeptConnection {
  readonly #socket: Socket;
  #received = '';

  constructor(port: number, peer: string) {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress: peer });
    this.#socket.on('data', (data: Buffer) => {
      this.#received += data.toString('latin1');
    });
    this.#socket.on('error', () => {});
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.readyState === 'open';
  }

  /** Requests `/who.php` for a visitor. @returns the JSON of the response */
  async get(visitor: string): Promise<string> {
    this.#received = '';
    const names = `X-Forwarded-For: ${visitor}\r\nX-Forwarded-Proto: https\r\nCF-Connecting-IP: ${visitor}\r\n`;
    this.#socket.write(`GET /who.php HTTP/1.1\r\nHost: ${HOST}\r\n${names}\r\n`);
    return until('the response is complete', () => /\{.*\}(?=\r\n)/s.exec(this.#received)?.[0] ?? null);
  }
}
