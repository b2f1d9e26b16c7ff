import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGuardDatabase, silentLogger } from '@security-optimizer/guard/testing';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';

const EIGHT_DAYS_MS = 8 * 24 * 3600_000;

/**
 * Resets the consent and the review prompt, and makes the product older than a week, at a provider that asks for
 * reviews and consent. Guard is stopped in between, since no API call can change these values.
 *
 * @param provider origin of the provider's services; by default nothing listens there, so that no data leaves the
 * machine
 */
export async function resetOwnerPrompts(
  stack: Stack,
  rateLink: string,
  provider = 'http://127.0.0.1:9',
): Promise<void> {
  await stopGuard(stack);
  const file = join(stack.guardDir, 'guard.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { branding?: object };
  const consent = { technicalDataUrl: `${provider}/data`, emailUrl: `${provider}/mails` };
  writeFileSync(file, JSON.stringify({ ...config, consent, branding: { ...config.branding, rateLink } }, null, 2));
  const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir: stack.guardDir, logger: silentLogger() });
  try {
    await db.deleteFrom('settings').where('name', 'in', ['consent_asked', 'rate_dismissed']).execute();
    await db
      .updateTable('first_starts')
      .set({ at: Date.now() - EIGHT_DAYS_MS })
      .execute();
  } finally {
    await db.destroy();
  }
  await startGuard(stack);
}
