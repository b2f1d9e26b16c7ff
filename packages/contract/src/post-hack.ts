import { z } from 'zod';
import { endpoint } from './endpoint.js';
import { toggleValue } from './settings.js';

/** The three remedies, in the order of the page. */
export const JOB_KINDS = ['reinstall-plugins', 'force-password-reset', 'log-out-users'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

const jobItem = z.object({
  /** Unique within the job, for example a plugin's file. */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  state: z.enum(['waiting', 'running', 'done', 'failed', 'skipped']),
  /** In words; empty when there is nothing to say. */
  reason: z.string(),
  /** Files of the old copy that the clean one does not have. */
  files: z.array(z.string()),
});

export const job = z.object({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(['running', 'done', 'stopped']),
  /** Unix seconds. */
  started: z.number().int(),
  ended: z.number().int().nullable(),
  /** Login of who started it. */
  actor: z.string(),
  done: z.number().int(),
  /** 0 while it is not known. */
  total: z.number().int(),
  items: z.array(jobItem),
  /** What came of it, in sentences. */
  summary: z.array(z.string()),
  /** Why it stopped, in words; empty unless it did. */
  error: z.string(),
});
export type Job = z.infer<typeof job>;
export type JobItem = z.infer<typeof jobItem>;

const started = z.object({ job });

export const reinstallPlugins = endpoint({
  name: 'reinstallPlugins',
  suffix: '/reinstall-plugins',
  methods: ['POST'],
  summary:
    'Replace every free plugin by a clean copy of the same version. `only` names plugin files to try again; ' +
    'what became of the others stays in the answer. ' +
    'A second start joins the job that runs.',
  request: z.object({ only: z.array(z.string().max(300)).max(1000).optional() }),
  response: started,
});

export const forcePasswordReset = endpoint({
  name: 'forcePasswordReset',
  suffix: '/force-password-reset',
  methods: ['POST'],
  summary:
    'Log everyone out and let nobody in again without a new password. With `go_on` a reset that stopped sends the ' +
    'mails that are left; whoever chose a new password meanwhile keeps it.',
  request: z.object({ go_on: toggleValue.optional() }),
  response: started,
});

export const logOutUsers = endpoint({
  name: 'logOutUsers',
  suffix: '/logout-users',
  methods: ['POST'],
  summary: 'End every session; with `keep_mine` all but the one of the caller.',
  request: z.object({ keep_mine: toggleValue.optional() }),
  response: started,
});

export const postHackJobs = endpoint({
  name: 'postHackJobs',
  suffix: '/post-hack-jobs',
  methods: ['POST', 'GET'],
  summary: 'The latest job of each kind, and what is known before one is started.',
  request: z.object({}),
  response: z.object({
    jobs: z.array(job),
    /** Each null when it is not known. */
    facts: z.object({
      plugins: z.number().int().nullable(),
      users: z.number().int().nullable(),
      sessions: z.number().int().nullable(),
    }),
  }),
});

const finding = z.object({
  id: z.string(),
  /** `problem` should be looked at, `note` is worth knowing, `fine` needs nothing. */
  level: z.enum(['problem', 'note', 'fine']),
  title: z.string(),
  text: z.string(),
  /** Where in wp-admin it is fixed; empty when there is no such place. */
  link: z.string(),
  link_text: z.string(),
  /** Names of files, users or tasks; at most 200. */
  items: z.array(z.string()),
});
export type CheckupFinding = z.infer<typeof finding>;

export const checkup = endpoint({
  name: 'checkup',
  suffix: '/checkup',
  methods: ['POST', 'GET'],
  summary: 'Look for traces of a break-in, changing nothing: core files, administrators, settings of note, tasks.',
  request: z.object({}),
  response: z.object({
    parts: z.array(
      z.object({
        part: z.enum(['core', 'administrators', 'options', 'tasks']),
        title: z.string(),
        /** Why this part could not be looked at, in words; empty when it was. */
        error: z.string(),
        findings: z.array(finding),
      }),
    ),
  }),
});

/** The calls of the page Post-hack Actions. */
export const postHackEndpoints = [reinstallPlugins, forcePasswordReset, logOutUsers, postHackJobs, checkup] as const;
