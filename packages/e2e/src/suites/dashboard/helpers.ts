import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGuardDatabase, silentLogger } from '@security-optimizer/guard/testing';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';

const EIGHT_DAYS_MS = 8 * 24 * 3600_000;

/**
 * Makes the site one whose owner was asked nothing yet and has used the product for more than a week, at a provider
 * that wants reviews and asks for consents. Guard is stopped meanwhile: these are facts that no call can change.
 */
export async function resetOwnerPrompts(stack: Stack, rateLink: string): Promise<void> {
  await stopGuard(stack);
  const file = join(stack.guardDir, 'guard.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { branding?: object };
  // Nothing listens there: what an owner agrees to does not leave the machine.
  const consent = { technicalDataUrl: 'http://127.0.0.1:9/data', emailUrl: 'http://127.0.0.1:9/mails' };
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
