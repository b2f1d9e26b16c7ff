import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, loginGateUnderTest } from '../../test/support/login-gate.js';

describe('a right password that needs a second factor', () => {
  it('is answered by the second factor’s pages; nothing WordPress sent gets out', async () => {
    const gate = await loginGateUnderTest();
    gate.wordpress.factor = true;
    const told = await gate.ask('/wp-login.php', form(PASSWORD));
    expect(gate.doorCalls).toEqual(['begin /wp-login.php 1']);
    expect(told.header('location')).toBe('/wp-login.php?action=second-factor');
    expect(told.headers.join('\n')).not.toContain('must-not-leave');
  });

  it('neither clears the count nor marks the device', async () => {
    const gate = await loginGateUnderTest({ login_attempts: 3 });
    await gate.ask('/wp-login.php', form('wrong'));
    gate.wordpress.factor = true;
    const told = await gate.ask('/wp-login.php', form(PASSWORD));
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(1);
    expect(told.header('set-cookie')).toBeUndefined();
  });

  it('leads to pages that guard serves itself, also for trusted devices told to WordPress', async () => {
    const gate = await loginGateUnderTest();
    const before = gate.wordpress.reached.length;
    expect((await gate.ask('/wp-login.php?action=second-factor')).body).toBe('second factor');
    expect((await gate.ask('/wp-login.php?action=second-factor-setup')).body).toBe('second factor');
    expect(gate.wordpress.reached).toHaveLength(before);
    await gate.ask('/wp-login.php', { ...form(PASSWORD), headers: { cookie: 'trusted=1' } });
    expect(gate.wordpress.reached.at(-1)?.context).toEqual({ trusted: [1] });
  });
});
