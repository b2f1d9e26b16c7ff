import * as z from 'zod/mini';
import { noInput, type RequestsOf } from '../request.js';
import type { SettingCalls } from '../settings/endpoints.js';
import { toggleValue } from '../shapes.js';
import { REMOVED_MAX } from './checkup.js';
import type { checkupEndpoints } from './checkup-endpoints.js';
import type { postHackEndpoints } from './endpoints.js';

const findingKey = z.string().check(z.minLength(1), z.maxLength(300));

export const postHackRequests = {
  reinstallPlugins: {
    summary:
      'Replace every free plugin by a clean copy of the same version. `only` lists plugin files to try again; the ' +
      'results of the others stay in the response. The job has one item for each plugin in `facts`. Must-use ' +
      'plugins and drop-ins are not changed. A second start joins the running job.',
    schema: z.object({ only: z.optional(z.array(z.string().check(z.maxLength(300))).check(z.maxLength(1000))) }),
  },
  forcePasswordReset: {
    summary:
      'Log out all users; each needs a new password before the next login. With `go_on` an interrupted reset sends ' +
      'the remaining mails; users who have chosen a new password keep it.',
    schema: z.object({ go_on: z.optional(toggleValue) }),
  },
  logOutUsers: {
    summary: 'End all sessions; with `keep_mine` all except the one of the caller.',
    schema: z.object({ keep_mine: z.optional(toggleValue) }),
  },
  postHackJobs: {
    summary: 'The latest job of each kind, and facts that are shown before a job is started.',
    schema: noInput,
  },
} satisfies RequestsOf<(typeof postHackEndpoints)[number]>;

export const checkupRequests = {
  checkup: {
    summary:
      'The result of the latest checkup for traces of a break-in, earlier ones (`all`: 1 for all of them), and the ' +
      'progress of a running one.',
    schema: z.object({ all: z.optional(toggleValue) }),
  },
  runCheckup: {
    summary:
      'Search for traces of a break-in in core files, administrators, uploads and plugins, without changing ' +
      'anything. It continues if the page is closed; a second start joins the running checkup.',
    schema: noInput,
  },
  keepFinding: {
    summary: 'Mark a finding of the latest checkup as known (1), so that it is omitted from now on, or unmark it (0).',
    schema: z.object({ key: findingKey, keep: toggleValue }),
  },
  removeFinding: {
    summary:
      'Remove what a finding of the latest checkup names: its files, of which copies are kept for 30 days, or the ' +
      'administrator, whose content is given to the caller. `only` selects files by their index in `files`. Whatever ' +
      'has changed since the checkup is not removed; the message says what was left and why. The check of the finding ' +
      'is repeated, so the response has the new result.',
    schema: z.object({
      key: findingKey,
      only: z.optional(
        z
          .array(z.int().check(z.minimum(0), z.maximum(REMOVED_MAX - 1)))
          .check(z.minLength(1), z.maxLength(REMOVED_MAX)),
      ),
    }),
  },
  restoreFiles: {
    summary:
      'Restore removed files, by their ids in `removed`. A file is not restored if another one has taken its place; ' +
      'the message says what was left and why.',
    schema: z.object({
      ids: z.array(z.string().check(z.minLength(1), z.maxLength(100))).check(z.minLength(1), z.maxLength(REMOVED_MAX)),
    }),
  },
} satisfies RequestsOf<Exclude<(typeof checkupEndpoints)[number], SettingCalls>>;
