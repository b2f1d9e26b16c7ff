import { ApiError } from '../lib/api-error.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { UsersInfo } from '../wordpress/connector-answers.js';
import { type BlockDeps, changeOf } from './block-address.js';
import type { BlockVersions, NewBlock } from './blocked-visitors.js';
import { whyNotBlockUser } from './do-not-block.js';
import { findVisitor } from './find-visitor.js';

export interface BlockUserDeps extends BlockDeps {
  /** Users who are blocked at the site now, lowest id first. */
  readonly blockedUsers: (site: SiteId) => readonly number[];
  /** Hands WordPress the policy with these users blocked, and waits until it runs it. Throws ConnectorError. */
  readonly pushBlockedUsers: (site: SiteConfig, users: readonly number[]) => Promise<unknown>;
  /** Ends every session of a user. Throws ConnectorError. */
  readonly endSessions: (site: SiteConfig, user: number) => Promise<void>;
  readonly usersInfo: (site: SiteConfig, ask: { readonly users: readonly number[] }) => Promise<UsersInfo>;
  /** Forgets who is signed in, as far as that is remembered. */
  readonly forgetSessions: (site: SiteId) => void;
}

/**
 * Blocks (1) or unblocks (0) a user. Blocked: sessions end at once, every log-in and every request as this user is
 * refused; role and content stay. WordPress is told first, so that a block is in force everywhere or nowhere.
 *
 * @returns the text for the owner
 * @throws ApiError not_found; must_not_be_blocked with the reason; StorageError, ConnectorError: then nothing is changed
 */
export async function blockUser(
  deps: BlockUserDeps,
  { site, actor, id, value }: { site: SiteConfig; actor: Actor; id: number; value: 0 | 1 },
): Promise<string> {
  const found = await findVisitor(deps, site.id, id);
  if (found.kind !== 'user') throw new ApiError('not_found', { message: 'This visitor is an address and not a user.' });
  const { visitorId, name } = found;
  const user = Number(found.value);
  const block = { kind: 'user', value: found.value, name, visitorId } as const;
  await deps.mutex.run(site.id, async () => {
    const before = deps.blockedUsers(site.id);
    const others = before.filter((other) => other !== user);
    if (value === 1) await refuseKept(deps, site, actor, { id: user, blocked: before.includes(user) });
    await deps.pushBlockedUsers(site, value === 1 ? [...others, user].sort((a, b) => a - b) : others);
    let versions: BlockVersions | null;
    try {
      versions = await (value === 1
        ? endAndStore(deps, site, actor, block)
        : deps.blocked.unblock(changeOf(deps, site, actor), block));
    } catch (error) {
      // WordPress gets the old policy back; if that fails too, its next signal heals it.
      await deps.pushBlockedUsers(site, before).catch(() => undefined);
      throw error;
    }
    deps.forgetSessions(site.id);
    if (versions === null) return;
    await deps.keeper.changed(site.id, block, value === 1, versions.blocks);
    deps.publish({ site: site.id, version: versions.site });
  });
  return value === 1
    ? english.translate('{name} is blocked and signed out.', { name })
    : english.translate('{name} is not blocked any more.', { name });
}

/** Ends the sessions before it stores the block: one that outlived it would be good again after it. */
async function endAndStore(
  deps: BlockUserDeps,
  site: SiteConfig,
  actor: Actor,
  block: NewBlock,
): Promise<BlockVersions | null> {
  await deps.endSessions(site, Number(block.value));
  const stored = await deps.blocked.block(changeOf(deps, site, actor), block);
  if (stored === null) throw new ApiError('rest_forbidden');
  return stored.versions;
}

async function refuseKept(
  deps: BlockUserDeps,
  site: SiteConfig,
  actor: Actor,
  { id, blocked }: { readonly id: number; readonly blocked: boolean },
): Promise<void> {
  const { users, administrators } = await deps.usersInfo(site, { users: [id] });
  const info = users.find((entry) => entry.id === id);
  if (info === undefined) throw new ApiError('not_found', { message: 'This user does not exist any more.' });
  const why = whyNotBlockUser({ id, blocked, administrator: info.can_manage, administrators }, actor.id);
  if (why !== null) throw new ApiError('must_not_be_blocked', { message: why });
}
