import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { toggleValue } from '../shapes.js';

/** The three actions, in the order of the page. */
export const JOB_KINDS = ['reinstall-plugins', 'force-password-reset', 'log-out-users'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

const jobItem = z.object({
  /** Unique within the job, for example a plugin's file. */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  /** `unchecked`: the plugin directory could not be reached, so nothing was changed. */
  state: z.enum(['waiting', 'running', 'done', 'failed', 'unchecked', 'skipped']),
  /** A sentence; may be empty. */
  reason: z.string(),
  /** Files of the old copy that the clean copy does not have. */
  files: z.array(z.string()),
});

export const job = z.object({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(['running', 'done', 'stopped']),
  /** Unix seconds. */
  started: z.int(),
  ended: z.nullable(z.int()),
  /** Login of the user who started it. */
  actor: z.string(),
  done: z.int(),
  /** Number of steps; 0 while unknown. */
  total: z.int(),
  items: z.array(jobItem),
  /** The result, in sentences. */
  summary: z.array(z.string()),
  /** Why the job stopped; otherwise empty. */
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
    'Replace every free plugin by a clean copy of the same version. `only` lists plugin files to try again; the ' +
    'results of the others stay in the response. The job has one item for each plugin in `facts`. Must-use ' +
    'plugins and drop-ins are not changed. A second start joins the running job.',
  request: z.object({ only: z.optional(z.array(z.string().check(z.maxLength(300))).check(z.maxLength(1000))) }),
  response: started,
});

export const forcePasswordReset = endpoint({
  name: 'forcePasswordReset',
  suffix: '/force-password-reset',
  methods: ['POST'],
  summary:
    'Log out all users; each needs a new password before the next login. With `go_on` an interrupted reset sends ' +
    'the remaining mails; users who have chosen a new password keep it.',
  request: z.object({ go_on: z.optional(toggleValue) }),
  response: started,
});

export const logOutUsers = endpoint({
  name: 'logOutUsers',
  suffix: '/logout-users',
  methods: ['POST'],
  summary: 'End all sessions; with `keep_mine` all except the one of the caller.',
  request: z.object({ keep_mine: z.optional(toggleValue) }),
  response: started,
});

export const postHackSchema = z.object({
  jobs: z.array(job),
  /** Unknown values are null. */
  facts: z.object({ plugins: z.nullable(z.int()), users: z.nullable(z.int()), sessions: z.nullable(z.int()) }),
});

export const postHackJobs = endpoint({
  name: 'postHackJobs',
  suffix: '/post-hack-jobs',
  methods: ['POST', 'GET'],
  summary: 'The latest job of each kind, and facts that are shown before a job is started.',
  request: z.object({}),
  response: postHackSchema,
});

/** Endpoints of the page Post-hack Actions. */
export const postHackEndpoints = [reinstallPlugins, forcePasswordReset, logOutUsers, postHackJobs] as const;
