import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { formatRole } from '@security-optimizer/contract/activity/event-values';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { EventRow } from '../activity/index.js';
import type { Administrators, CoreFiles, ScheduledTasks, SiteOptions } from '../wordpress/connector-commands.js';
import { isHarmlessWithout, isStrong, type Note, type ToTime, toRoleParam } from './checkup-findings.js';

/** Creates a note: useful to know after a break-in, but no finding. Notes do not affect the verdict. */

function createNote(fields: Partial<Note> & Pick<Note, 'id' | 'title'>): Note {
  return { text: '', link: '', link_text: '', items: [], ...fields };
}

/** The readme that the setting deletes (`Security_Optimizer_Readme` in the connector). */
const README = 'readme.html';

/**
 * Notes on missing files that WordPress does not need, and on files that the server adds.
 * @param link to the page where WordPress is reinstalled
 */
export function coreNotes(files: CoreFiles, deletesReadme: boolean, link: string): Note[] {
  const missing = files.missing.filter((file) => isHarmlessWithout(file) && !(deletesReadme && file === README));
  const notes: Note[] = [];
  if (missing.length > 0) {
    notes.push(
      createNote({
        id: 'core-missing',
        title: 'Documentation or pictures of WordPress are missing',
        text: 'WordPress works without them. Reinstalling it brings them back.',
        items: missing,
        link,
        link_text: 'Reinstall WordPress',
      }),
    );
  }
  if (files.left.length > 0) {
    notes.push(
      createNote({
        id: 'core-left',
        title: 'Logs or settings of the server lie in the folders of WordPress',
        text: 'They hold no code. Hosting providers write such files.',
        items: files.left,
      }),
    );
  }
  return notes;
}

/**
 * Notes on all administrators, newest first.
 * @param lastLogins from the Activity Log; an open session may be newer
 */
export function administratorNotes(
  all: Administrators,
  lastLogins: ReadonlyMap<number, number>,
  time: ToTime,
  link: string,
): Note[] {
  const day = (seconds: number) => ({ time: time(seconds).time.slice(0, 10) });
  const items = [...all]
    .sort((a, b) => b.registered - a.registered)
    .map(({ id, login, email, registered, last_login: open }) => {
      const last = Math.max(open ?? 0, lastLogins.get(id) ?? 0);
      const since = { login, email, since: day(registered) };
      return last === 0
        ? serverMessage('administrator_since', since)
        : serverMessage('administrator_last_login', { ...since, last: day(last) });
    });
  return [
    createNote({
      id: 'administrators',
      title: 'Check that you know every administrator',
      text: 'Delete or demote whoever should not be one.',
      items,
      link,
      link_text: 'Review administrators',
    }),
  ];
}

const inEnglish = (role: string): string => formatRole(role, (name) => name);

export function optionNotes(options: SiteOptions, usersLink: string): Note[] {
  const fix = { link: options.settings_link, link_text: 'Open settings' };
  const notes: Note[] = [];
  if (!options.registration && isStrong(options)) {
    notes.push(
      createNote({
        id: 'default-role',
        title: serverMessage('default_role', { role: toRoleParam(options.default_role) }),
        text: 'Choose a role that can change nothing, such as Subscriber.',
        ...fix,
      }),
    );
  }
  if (options.registration && !isStrong(options)) {
    notes.push(
      createNote({
        id: 'registration',
        title: 'Anyone can register',
        text: 'Turn it off if you don’t need it.',
        ...fix,
      }),
    );
  }
  if (options.strong_roles.length > 0) {
    notes.push(
      createNote({
        id: 'strong-roles',
        title: 'Roles other than Administrator may install plugins or change settings',
        text: 'A break-in may leave such a role behind.',
        items: options.strong_roles.map(inEnglish),
        link: usersLink,
        link_text: 'Review users',
      }),
    );
  }
  notes.push(
    createNote({
      id: 'addresses',
      title: 'Check the addresses of the site',
      items: [
        serverMessage('site_address', { url: options.home }),
        serverMessage('wordpress_address', { url: options.site_url }),
        serverMessage('administration_email', { email: options.admin_email }),
      ],
      ...fix,
    }),
  );
  return notes;
}

type OptionChange = Pick<EventRow, 'at' | 'login' | 'kind' | 'object' | 'objectType' | 'before' | 'after'>;

/** Notes on changes of WordPress's settings in the Activity Log. */
export function changeNotes(changes: readonly OptionChange[], time: ToTime, link: string): Note[] {
  if (changes.length === 0) return [];
  const parts = changes.map((change) => ({
    sentence: eventSentence(change),
    day: time(change.at).time.slice(0, 10),
    user: change.login === '' ? 'WordPress' : change.login,
    words: {
      kind: change.kind,
      object: change.object,
      object_type: change.objectType,
      before: change.before,
      after: change.after,
    },
  }));
  return [
    createNote({
      id: 'settings-changed',
      title: 'Settings were changed in the days that the log keeps',
      text: 'Put back what you did not change yourself.',
      items: parts.map(({ day, user, sentence }) => `${day}, ${user}: ${sentence}`),
      changes: parts.map(({ day, user, words }) => ({ day, user, words })),
      link,
      link_text: 'Open the log',
    }),
  ];
}

/** @param count number of plugins that are not in the plugin directory */
export function notListedNotes(count: number): Note[] {
  if (count === 0) return [];
  return [
    createNote({
      id: 'plugins-not-listed',
      title: serverMessage('plugins_not_listed', { count }),
      text: 'Install them again from where you got them if you are not sure.',
    }),
  ];
}

export function taskNotes(tasks: ScheduledTasks): Note[] {
  const unknown = tasks.filter(({ owner }) => owner === '');
  if (unknown.length === 0) return [];
  return [
    createNote({
      id: 'tasks-unknown',
      title: 'Scheduled tasks that no plugin or theme handles',
      text: 'Often left behind by a plugin that was removed. They do nothing unless code for them comes back.',
      items: unknown.map(({ hook }) => hook),
    }),
  ];
}
