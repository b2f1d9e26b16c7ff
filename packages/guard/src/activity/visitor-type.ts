import { HUMAN } from '@security-optimizer/contract/activity';
import { isbot } from 'isbot';
import { botName, claimedSearchEngine } from './bots.js';

/** No user agent was sent. */
const UNKNOWN = 'Unknown';
/** Claims to be a search engine, and DNS has not proved it, or not yet. */
const UNVERIFIED_BOT = 'Unverified bot';
/** A bot that no list names. */
const OTHER_BOT = 'Other bot';

/**
 * What kind of visitor an agent belongs to: `Human`, `Unknown` without agent, else a bot's name. Whether it is a bot at
 * all says isbot; its name is one of the list of crawler-user-agents, so there is a bounded number of types, whatever
 * clients send. Takes some microseconds up to some dozen: ask once per agent.
 *
 * @param agent as sent, at most 300 characters
 * @param verifiedBot name of the search engine that DNS proved this visitor to be, or null
 */
export function visitorType(agent: string | null, verifiedBot: string | null): string {
  if (agent === null || agent.trim() === '') return UNKNOWN;
  const claimed = claimedSearchEngine(agent);
  if (claimed !== null) return claimed.name === verifiedBot ? (botName(agent) ?? claimed.name) : UNVERIFIED_BOT;
  return isbot(agent) ? (botName(agent) ?? OTHER_BOT) : HUMAN;
}
