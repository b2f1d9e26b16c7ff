import { describe, expect, it } from 'vitest';
import type { ActivityStore, EventRow } from '../activity/index.js';
import { english } from '../i18n/language.js';
import { StorageError } from '../storage/storage-error.js';
import { HOUR, type Wave } from './alert-rules.js';
import { describeAlert } from './describe-alert.js';
import { readWaveFacts } from './wave-facts.js';

const NOON = Date.UTC(2026, 10, 21, 14);
const MINUTE = 60_000;
const addresses = ['203.0.113.1', '203.0.113.9'];
const wave: Wave = {
  from: NOON,
  to: NOON + MINUTE,
  lockouts: addresses.map((address) => ({ uid: address, at: NOON, address, failures: 5 })),
};
const site = {
  ...{ name: 'example.com', url: 'https://example.com', language: english, timeZone: 'Europe/Berlin' },
  page: (name: string) => `https://example.com/wp-admin/${name}`,
  redact: (text: string) => text,
};

/** A log with failed logins, and logins from the network at another time. */
function store(failed: readonly string[], logins: number): Pick<ActivityStore, 'listEvents'> {
  return {
    async listEvents({ filter }) {
      const rows =
        filter.activity === 'login.failed' ? failed.map((object) => ({ object, address: addresses[0] })) : [];
      const isEver = filter.activity === 'login' && filter.from === null;
      return (isEver ? Array.from({ length: logins }, () => ({ address: addresses[0] })) : rows) as EventRow[];
    },
  };
}

async function described(log: Pick<ActivityStore, 'listEvents'>) {
  const { severity, lead, list, task, log: href } = describeAlert(await readWaveFacts(log, 'site', wave), site);
  return { severity, lead, rows: list?.rows.map(({ name, value }) => `${name}: ${value}`), text: task.text, href };
}

describe('the alert of a wave of lockouts', () => {
  it('counts every wrong password, also for names that the log does not have', async () => {
    const { rows, lead } = await described(store(['owner', 'owner', 'editor'], 0));
    expect(lead).toContain('They tried 10 passwords');
    expect(rows).toEqual(['owner: 2 wrong passwords', 'editor: 1 wrong password', 'Other names: 7 wrong passwords']);
  });

  it('says whom a block of the network would meet, and opens its entries in the log', async () => {
    const { text, href } = await described(store([], 0));
    expect(text).toBe('Block 203.0.113.0/24 to end it. The log has no login from there.');
    const [from, to] = [(NOON - HOUR) / 1000, (NOON + 2 * MINUTE) / 1000 + 1];
    expect(href).toContain(`log_tab=registered&log_search=203.0.113.0%2F24&log_from=${from}&log_to=${to}`);
    expect((await described(store([], 1))).text).toContain('Members have logged in from there, too');
  });

  it('says less when the log can’t be read', async () => {
    const broken = { listEvents: () => Promise.reject(new StorageError('locked', 'It is locked.')) };
    const { text, lead } = await described(broken);
    expect([text, lead]).toEqual([
      'Block 203.0.113.0/24 to end it.',
      'They tried 10 passwords. You don’t need to do anything.',
    ]);
  });
});
