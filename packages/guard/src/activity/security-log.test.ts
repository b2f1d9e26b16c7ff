import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import type { Address } from '../lib/address.js';
import { parseVisitor } from '../lib/carried-address.js';
import { silentLogger } from '../lib/logger.js';
import { openSecurityLog } from './security-log.js';

it('a line contains the address that the firewall sees, not the carried address', async () => {
  const file = join(await scratchFolder(), 'security.log');
  const log = openSecurityLog(file, { visits: { add() {} }, clock: () => 0, logger: silentLogger() });
  for (const text of ['192.0.2.1', '64:ff9b::192.0.2.1', '2002:c000:201::5', '2001:db8::1']) {
    const address = parseVisitor(text) as Address;
    log.visits.add('site', { address, target: '/', status: 403, rule: 'xml-rpc', agent: () => null });
  }
  await log.close();
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).address)).toEqual([
    '192.0.2.1',
    '64:ff9b::c000:201',
    '2002:c000:201::5',
    '2001:db8::1',
  ]);
});
