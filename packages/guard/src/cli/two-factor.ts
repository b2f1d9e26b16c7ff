import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { listEnrolled } from '../login/two-factor/list-enrolled.js';
import { resetSecondFactor } from '../login/two-factor/reset-second-factor.js';
import { COMMAND_LINE } from '../settings/command-line-actor.js';
import { sqlSecondFactorStore } from '../storage/second-factor-store.js';
import { sqlSiteFactsStore } from '../storage/site-facts-store.js';
import { connectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { type Command, CommandError } from './command.js';
import { type OpenSite, onSite, recoveryOptionsHelp } from './recovery.js';

export const twoFactorCommand: Command = {
  name: 'two-factor',
  summary: 'Forget the second factor of a user, who sets up a new one at the next log-in.',
  help: `security-optimizer two-factor reset USER --data-dir DIR [--site ID]

  USER             username or user ID
${recoveryOptionsHelp}
Ends the sessions of the user too, if WordPress answers.`,
  run: (args) =>
    onSite(args, ['reset', 'USER'], async ({ site, db, words: [, name = ''] }) => {
      const store = sqlSecondFactorStore(db);
      const enrolled = await listEnrolled(store, site.id);
      const match = enrolled.find(({ user_login }) => user_login.toLowerCase() === name.toLowerCase());
      const user = match?.ID ?? (/^[1-9]\d{0,14}$/.test(name) ? Number(name) : null);
      if (user === null) throw new CommandError(`No user with a second factor is called ${name}.`);
      let sessionsLeft: ConnectorError | null = null;
      const done = await resetSecondFactor(
        {
          store,
          // A phone is lost also while WordPress is down: the factor goes all the same.
          endSessions: async () => {
            sessionsLeft = await endSessions({ site, db }, user);
          },
          publish: () => undefined,
          clock: systemClock,
          logger: silentLogger(),
        },
        { site: site.id, user, actor: COMMAND_LINE },
      );
      if (done === null) throw new CommandError(`The user ${name} has no second factor.`);
      process.stdout.write(`${done.login} sets up a new second factor at the next log-in.\n`);
      if (sessionsLeft !== null) {
        const { detail } = sessionsLeft as ConnectorError;
        process.stderr.write(`The sessions of the user could not be ended. ${detail}\n`);
      }
      return 0;
    }),
};

async function endSessions({ site, db }: Pick<OpenSite, 'site' | 'db'>, user: number): Promise<ConnectorError | null> {
  const { facts } = await sqlSiteFactsStore(db).read(site.id);
  const client = connectorClient({ clock: systemClock, facts: () => facts });
  try {
    await client.endSessions(site, [user]);
    return null;
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  } finally {
    client.close();
  }
}
