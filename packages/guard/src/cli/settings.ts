import { isDeepStrictEqual } from 'node:util';
import { toEnglish } from '@security-optimizer/contract/server-message';
import { ApiError } from '../lib/api-error.js';
import { lineText } from '../lib/plain-text.js';
import {
  checkLoginPath,
  getAwayState,
  loginPathTexts,
  normaliseLoginPath,
  parseAwaySchedule,
  readLoginAccess,
} from '../login/index.js';
import { readRecipients } from '../reports/index.js';
import type { LoginSettings } from '../rules/login-policy.js';
import { createSettingsStore } from '../settings/settings-store.js';
import {
  getSettingValue,
  parseSettingValue,
  readSiteSettings,
  type SettingChanges,
  type SiteSettings,
  settingNames,
} from '../settings/site-settings.js';
import { defaultSitePaths, type SiteFacts } from '../site.js';
import { createSiteFactsStore } from '../sites/site-facts-store.js';
import { type Command, CommandError } from './command.js';
import { readOperatorFile } from './operator-files.js';
import { recoveryOptionsHelp, withSite } from './recovery.js';

export const exportSettingsCommand: Command = {
  name: 'settings export',
  summary: 'Print the settings of a site as JSON.',
  help: `security-optimizer settings export --data-dir DIR [--site ID]

${recoveryOptionsHelp}

What owners agreed to is not among them, nor blocked visitors, second factors and the log; \`back-up\` copies these.`,
  run: (args) =>
    withSite(args, [], async ({ db, site }) => {
      const settings = await readSiteSettings(createSettingsStore(db), site.id);
      const values = Object.fromEntries(settingNames.map((name) => [name, getSettingValue(settings, name)]));
      process.stdout.write(`${JSON.stringify({ settings: values }, null, 2)}\n`);
      return 0;
    }),
};

export const importSettingsCommand: Command = {
  name: 'settings import',
  summary: 'Set the settings of a site from JSON.',
  help: `security-optimizer settings import FILE --data-dir DIR [--site ID]

  FILE             JSON with an object \`settings\`, as \`settings export\` prints it; settings that it lacks stay as they are
${recoveryOptionsHelp}

Every mistake is named, and with one nothing is changed. A schedule with which Away Mode would start at once is a mistake,
since nobody could log in; the one that is in force already is none. WordPress is not asked whether a login address is in use
by one of its pages.`,
  run: (args) =>
    withSite(args, ['FILE'], async ({ db, site, positionals, now, change }, _flags, config) => {
      const values = await readValues(positionals[0] ?? '');
      const { facts } = await createSiteFactsStore(db).read(site.id);
      const mistakes: string[] = [];
      let count = 0;
      await change((current) => {
        const { maxEmails } = config.weeklyReport;
        const changes = checkValues(values, { current, facts, now, maxEmails }, mistakes);
        if (mistakes.length > 0) throw new CommandError(describeMistakes(positionals[0] ?? '', mistakes));
        count = Object.keys(changes).length;
        return changes;
      }, Object.keys(values));
      process.stdout.write(`Set ${count} settings of ${site.id}.\n`);
      return 0;
    }),
};

function describeMistakes(file: string, mistakes: readonly string[]): string {
  return `${file} has mistakes; nothing was changed:\n${mistakes.map((mistake) => `  ${lineText(mistake)}`).join('\n')}`;
}

async function readValues(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readOperatorFile(file);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${file} can’t be read as JSON: ${lineText((error as Error).message)}`);
  }
  const settings = (json as { settings?: unknown } | null)?.settings;
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw new CommandError(`${file} needs an object \`settings\`, as \`settings export\` prints it.`);
  }
  return settings as Readonly<Record<string, unknown>>;
}

interface SiteNow {
  readonly current: SiteSettings;
  readonly facts: SiteFacts | null;
  readonly now: number;
  readonly maxEmails: number;
}

/** The values in their stored form, validated by the rules of the dashboard. Mistakes are appended to the list. */
function checkValues(values: Readonly<Record<string, unknown>>, site: SiteNow, mistakes: string[]): SettingChanges {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (!settingNames.includes(name)) {
      mistakes.push(`${name}: there is no such setting`);
      continue;
    }
    const parsed = parseSettingValue(name, value);
    if ('allowed' in parsed) {
      mistakes.push(`${name}: ${parsed.allowed}`);
      continue;
    }
    try {
      changes[name] = checkValue(name, parsed.value, site);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const fields = Object.entries(error.fields ?? {});
      mistakes.push(...fields.map(([field, text]) => `${name}.${field}: ${toEnglish(text)}`));
    }
  }
  return changes as SettingChanges;
}

/** @throws ApiError invalid_input */
function checkValue(name: string, value: unknown, { current, facts, now, maxEmails }: SiteNow): unknown {
  switch (name) {
    case 'login_access':
      return readLoginAccess(value as readonly string[]);
    case 'notification_emails':
      return readRecipients(value as readonly string[], maxEmails);
    case 'login_url':
      return checkLoginUrl(value as LoginSettings['login_url'], facts);
    case 'away_mode':
      return checkAwayMode(value as Record<string, unknown>, {
        timeZone: facts?.timeZone ?? 'UTC',
        nowMs: now,
        current: current.login.away_mode,
      });
    default:
      return value;
  }
}

/** In the dashboard an owner confirms that Away Mode starts at once. Nobody can confirm it here. */
function checkAwayMode(
  value: Readonly<Record<string, unknown>>,
  at: Parameters<typeof parseAwaySchedule>[1],
): LoginSettings['away_mode'] {
  const schedule = parseAwaySchedule(value, at);
  const { away, until_text: until } = getAwayState(schedule, at.timeZone, at.nowMs);
  const isUnchanged = isDeepStrictEqual(schedule, at.current);
  if (away === 0 || isUnchanged) return schedule;
  throw new ApiError('invalid_input', {
    fields: {
      type: `Away Mode would start at once and last until ${until}, and nobody could log in until then. Use a schedule that starts later, or leave away_mode out of the file`,
    },
  });
}

function checkLoginUrl(
  { type, login, signup }: LoginSettings['login_url'],
  facts: SiteFacts | null,
): LoginSettings['login_url'] {
  const paths = { login: normaliseLoginPath(login), signup: normaliseLoginPath(signup) };
  const fields: Record<string, ReturnType<typeof checkLoginPath> & {}> = {};
  for (const name of ['login', 'signup'] as const) {
    // Both may be empty while they are not in use; the sign-up path also when registration is closed.
    if (paths[name] === '' && (type === 'default' || name === 'signup')) continue;
    const wrong = checkLoginPath(paths[name], facts?.paths ?? defaultSitePaths);
    if (wrong !== null) fields[name] = wrong;
  }
  if (paths.login !== '' && paths.login === paths.signup) fields.signup ??= loginPathTexts.same;
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  return { type, ...paths };
}
