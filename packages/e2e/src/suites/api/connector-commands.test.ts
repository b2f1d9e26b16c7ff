import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_HEADER, commandHeader, GUARD_HEADER, guardHeader } from '@security-optimizer/guard/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { sendUpstream } from '../../http/request.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { createsSession } from '../login/helpers.js';

/** Properties of a command that tests change. */
interface Sent {
  readonly command: string;
  readonly body: string;
  readonly nonce: string;
  /** Seconds from now at which it was signed. */
  readonly signed: number;
  /** Values that are sent instead of the signed ones. */
  readonly forged?: { readonly command?: string; readonly body?: string; readonly method?: string };
  readonly secret?: string;
  readonly withoutGuard?: boolean;
}

onUnlikeStacks('the connector, without guard in front', (stack) => {
  let secret: string;

  beforeAll(() => {
    const sites = join(stack.guardDir, 'sites');
    const [file] = readdirSync(sites).filter((name) => name.endsWith('.secret'));
    secret = readFileSync(join(sites, file as string), 'utf8').trim();
  });

  const visitor = () => ({
    time: Math.floor(Date.now() / 1000),
    requestId: randomBytes(8).toString('hex'),
    scheme: 'http' as const,
    address: '127.0.0.1',
  });
  const send = (changed: Partial<Sent>): Promise<RawResponse> => {
    const nonce = randomBytes(16).toString('hex');
    const sent: Sent = { command: 'hello', body: '{}', nonce, signed: 0, ...changed };
    const time = Math.floor(Date.now() / 1000) + sent.signed;
    const key = sent.secret ?? secret;
    // Fresh and signed with the right key, so that only the command's own header decides.
    const guard = guardHeader(secret, visitor());
    return sendUpstream(stack, {
      method: sent.forged?.method ?? 'POST',
      target: `/index.php?rest_route=/security-optimizer-connector/v1/${sent.forged?.command ?? sent.command}`,
      headers: {
        'content-type': 'application/json',
        ...(!sent.withoutGuard && { [GUARD_HEADER]: guard }),
        [COMMAND_HEADER]: commandHeader(key, { command: sent.command, time, nonce: sent.nonce, body: sent.body }),
      },
      body: sent.forged?.body ?? sent.body,
    });
  };
  const carriedOut = ({ status, body }: RawResponse) => status === 200 && body.includes('"connector"');

  it('gives plugins the address that guard has signed, not one that a proxy behind guard has passed on', async () => {
    const plugin = join(muPlugins(stack), 'show-server.php');
    writeFileSync(plugin, `<?php if ( isset( $_GET['show-server'] ) ) { echo wp_json_encode( $_SERVER ); exit; }`);
    try {
      const claims = [
        'client-ip',
        'x-client-ip',
        'x-real-ip',
        'x-cluster-client-ip',
        'cf-connecting-ip',
        'true-client-ip',
      ];
      const more = {
        forwarded: 'for=203.0.113.9',
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-host': '203.0.113.9',
      };
      const response = await sendUpstream(stack, {
        target: '/?show-server',
        headers: {
          ...more,
          ...Object.fromEntries(claims.map((name) => [name, '203.0.113.9'])),
          [GUARD_HEADER]: guardHeader(secret, { ...visitor(), address: '192.0.2.7' }),
        },
      });
      const server = JSON.parse(response.body) as Record<string, unknown>;
      const named = (address: string) => Object.keys(server).filter((name) => String(server[name]).includes(address));
      expect(named('203.0.113.9')).toEqual([]);
      const known = claims.map((name) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}`);
      expect(named('192.0.2.7').sort()).toEqual([...known, 'HTTP_X_FORWARDED_FOR', 'REMOTE_ADDR'].sort());
      // The header of guard determines the visitor.
      expect(Object.keys(server).filter((name) => name.includes('SECURITY_OPTIMIZER'))).toEqual([]);
    } finally {
      rmSync(plugin);
    }
  });

  describe('executes commands', () => {
    it('once: a repeated command gets 404 as a missing route does', async () => {
      const nonce = randomBytes(16).toString('hex');
      expect(carriedOut(await send({ nonce }))).toBe(true);
      for (const again of [{}, { signed: 1 }, { command: 'user', body: '{"user":1}' }]) {
        const response = await send({ nonce, ...again });
        expect([response.status, JSON.parse(response.body).code]).toEqual([404, 'rest_no_route']);
      }
    });

    it('once when the same command is sent ten times in parallel', async () => {
      const nonce = randomBytes(16).toString('hex');
      const responses = await Promise.all(Array.from({ length: 10 }, () => send({ nonce })));
      expect(responses.filter(carriedOut)).toHaveLength(1);
      expect(responses.filter(({ status }) => status === 404)).toHaveLength(9);
    });

    it('and keeps their nonce as long as their signature is valid', async () => {
      for (const signed of [-40, 50]) {
        const nonce = randomBytes(16).toString('hex');
        expect(carriedOut(await send({ nonce, signed }))).toBe(true);
        // Each command deletes expired nonces.
        expect(carriedOut(await send({}))).toBe(true);
        expect((await send({ nonce, signed })).status).toBe(404);
      }
    });

    it('and deletes expired nonces', async () => {
      const nonce = randomBytes(16).toString('hex');
      const old = randomBytes(16).toString('hex');
      const stored = (name: string) =>
        runInWordPress(
          stack,
          `global $wpdb; echo $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM {$wpdb->base_prefix}options WHERE option_name = %s", 'security_optimizer_nonce_${name}' ) );`,
        );
      await runInWordPress(stack, `Security_Optimizer_Nonces::consume( '${old}', time() - 121 );`);
      expect(carriedOut(await send({ nonce }))).toBe(true);
      expect([await stored(old), await stored(nonce)]).toEqual(['0', '1']);
    });

    describe('but refuses those', () => {
      it.each<[string, Partial<Sent>]>([
        ['signed more than a minute ago', { signed: -63 }],
        ['signed more than a minute ahead', { signed: 63 }],
        ['with another body than the signed one', { forged: { body: '{"x":1}' } }],
        ['with another name than the signed one', { forged: { command: 'checkup' } }],
        ['with another method', { forged: { method: 'PUT' } }],
        ['signed with another key', { secret: 'a1'.repeat(32) }],
        ['with a nonce in another format', { nonce: 'A'.repeat(32) }],
      ])('%s, with 404 as for a missing route', async (_how, sent) => {
        const response = await send(sent);
        expect([response.status, JSON.parse(response.body).code]).toEqual([404, 'rest_no_route']);
      });

      it('that lack guard’s own header, with 403', async () => {
        expect((await send({ withoutGuard: true })).status).toBe(403);
      });
    });

    it('and creates no session when the password was changed before the second factor was checked', async () => {
      const id = Number(
        await runInWordPress(
          stack,
          `echo wp_insert_user( array( 'user_login' => 'changes-password', 'user_pass' => 'first', 'user_email' => 'changes-password@example.com' ) );`,
        ),
      );
      const issue = (stamp: string) => {
        const body = { user: id, remember: false, redirect: '', interim: false, new_factor: false, stamp };
        return send({ command: 'issue-session', body: JSON.stringify(body) });
      };
      try {
        const { stamp } = JSON.parse((await send({ command: 'user', body: `{"user":${id}}` })).body) as {
          stamp: string;
        };
        const made = await issue(stamp);
        expect([made.status, createsSession(made)]).toEqual([200, true]);
        await runInWordPress(stack, `wp_set_password( 'second', ${id} );`);
        const refused = await issue(stamp);
        expect([refused.status, JSON.parse(refused.body).code, createsSession(refused)]).toEqual([
          400,
          'unknown_user',
          false,
        ]);
      } finally {
        await runInWordPress(stack, `require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( ${id} );`);
      }
    });

    it('whose signature is up to a minute early or late', async () => {
      for (const signed of [-45, 55]) expect(carriedOut(await send({ signed }))).toBe(true);
    });
  });
});
