import { join } from 'node:path';
import type { Clock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';
import type { LoginAttempts } from './login/attempts.js';
import { createSecondFactorDoor, type RunningSecondFactorDoor } from './login/two-factor/create-second-factor-door.js';
import { noteLogin } from './login/two-factor/note-login.js';
import { TrustedDevices } from './login/two-factor/trusted-devices.js';
import { defaultSitePaths, type SiteConfig } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { sqlAuditStore } from './storage/audit-store.js';
import { sqlChallengeStore } from './storage/challenge-store.js';
import type { ChangeFeed } from './storage/change-feed.js';
import type { Database } from './storage/database.js';
import { sqlFactorTriesStore } from './storage/factor-tries-store.js';
import { sqlSecondFactorStore } from './storage/second-factor-store.js';
import { sitesWithRows } from './storage/sites-with-rows.js';
import { sqlTrustedDeviceStore } from './storage/trusted-device-store.js';
import type { ConnectorClient } from './wordpress/connector-client.js';

/** The part of the composition root that belongs to the second factor. Trusted devices are loaded when it resolves. */
export async function composeSecondFactor(parts: {
  readonly db: Database;
  readonly dataDir: string;
  readonly client: Pick<ConnectorClient, 'issueSession' | 'whoIs' | 'user'>;
  readonly sites: LiveSites;
  readonly configured: readonly SiteConfig[];
  readonly attempts: Pick<LoginAttempts, 'succeeded'>;
  readonly feed: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<RunningSecondFactorDoor> {
  const { db, client, sites } = parts;
  const pathsOf = ({ id }: SiteConfig) => sites.get(id).facts?.paths ?? defaultSitePaths;
  const door = createSecondFactorDoor({
    factors: sqlSecondFactorStore(db),
    challenges: sqlChallengeStore(db),
    tries: sqlFactorTriesStore(db),
    audit: sqlAuditStore(db),
    devices: new TrustedDevices(sqlTrustedDeviceStore(db)),
    issuer: client,
    visitors: client,
    keyFile: join(parts.dataDir, 'two-factor.key'),
    noteLogin: (visit, login) => noteLogin(parts.attempts, pathsOf(visit.site).home, visit, login),
    adminPath: (site) => pathsOf(site).admin,
    clock: parts.clock,
    logger: parts.logger,
  });
  const withDevices = await sitesWithRows(db, 'second_factor_devices');
  for (const { id } of parts.configured) if (withDevices.has(id)) await door.reload(id);
  // A reset by the command line or another node tells of itself by the site's version.
  parts.feed.subscribe((site) => void door.reload(site));
  return door;
}
