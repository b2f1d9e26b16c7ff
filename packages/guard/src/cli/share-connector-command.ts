import { sharedFolder } from '../config/config-file.js';
import { isRoot } from '../lib/privileges.js';
import { type Command, CommandError, checked, readArguments, UsageError } from './command.js';
import { findConnectorSources } from './connector-files.js';
import { shareConnector } from './shared-connector.js';

/** In a file of its own, since the program that works in a site's folder needs no schema of the configuration. */
export const shareConnectorCommand: Command = {
  name: 'share-connector',
  summary: 'Copy the connector into a folder that the sites of this machine share.',
  help: `security-optimizer share-connector DIR

  DIR   absolute path of a folder of root's, for example /opt/security-optimizer/connector

Run it as root, once for each version of guard, and then \`attach\` with --shared-connector DIR for each site. Each version
has a folder of its own in DIR. Sites go on with theirs until they are attached again; remove it by hand after that.`,
  async run(args) {
    const { positionals } = readArguments(args, {});
    const [folder, ...more] = positionals;
    if (folder === undefined || more.length > 0) throw new UsageError('Name one folder.');
    const shared = checked('DIR', sharedFolder, folder);
    if (!isRoot()) throw new CommandError('Only root can make a folder that no owner of a site may change.');
    const release = await shareConnector(shared, await findConnectorSources());
    process.stdout.write(`Shared: ${release}\n`);
    return 0;
  },
};
