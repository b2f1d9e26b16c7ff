import { z } from 'zod';
import { endpoint } from './endpoint.js';
import { flag } from './login.js';
import { phrase } from './phrase.js';
import { toggleValue } from './settings.js';

/** Something that needs the owner, found by a real check; gone when it is fixed. */
export const notification = z.object({
  id: z.string(),
  /** `danger` before `warning` before `info`. */
  level: z.enum(['danger', 'warning', 'info']),
  title: z.string(),
  text: z.string(),
  button_link: z.string(),
  button_text: z.string(),
  /** Title and text in parts, where something in them changes; the other members are English sentences as a whole. */
  phrases: z.object({ title: phrase.optional(), text: phrase.optional() }),
});
export type Notification = z.infer<typeof notification>;

const hardeningItem = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  icon: z.string(),
  button_link: z.string(),
  button_text: z.string(),
  /** Essentials of this page that are on, and how many it has. */
  on: z.number().int(),
  total: z.number().int(),
});
export type HardeningItem = z.infer<typeof hardeningItem>;

/** What the provider gives away; null when it is not configured. */
export const ebook = z.object({ title: z.string(), link: z.string(), text: z.string(), image: z.string() });
export type Ebook = z.infer<typeof ebook>;

const reads = { methods: ['POST', 'GET'], request: z.object({}) } as const;

export const notifications = endpoint({
  ...reads,
  name: 'notifications',
  suffix: '/notifications',
  summary: 'What needs the owner now, most urgent first.',
  response: z.array(notification),
});

export const hardening = endpoint({
  ...reads,
  name: 'hardening',
  suffix: '/hardening',
  summary: 'A card for each page with essentials, and what is still open there.',
  response: z.array(hardeningItem),
});

export const eBook = endpoint({
  ...reads,
  name: 'ebook',
  suffix: '/e-book',
  summary: 'The e-book that the provider offers, or null.',
  response: ebook.nullable(),
});

export const rate = endpoint({
  name: 'rate',
  suffix: '/rate',
  methods: ['POST', 'GET'],
  summary: 'Whether to ask for a review (after a week of use). With `show: 0` it is never asked again.',
  request: z.object({ show: z.literal([0, '0', false], { error: 'Use 0.' }).optional() }),
  response: z.object({ show: flag, link: z.string() }),
});

export const protectionFacts = endpoint({
  ...reads,
  name: 'protectionFacts',
  suffix: '/protection-facts',
  summary: 'Figures below the protection score, each null when it is not known.',
  response: z.object({
    /** Visits refused in the last 7 days. */
    blocked: z.number().int().nullable(),
    /** Who is blocked now, as the list of `/blocked-users` has them: locks by failed log-ins too. */
    block_list: z.number().int().nullable(),
    /** Failed log-ins of the last 7 days. */
    failed_logins: z.number().int().nullable(),
  }),
});

/** The one call of the provider's shared settings API. */
export const updateConsent = endpoint({
  name: 'update:consent',
  namespace: 'provider',
  suffix: '/update-settings',
  methods: ['PUT', 'POST'],
  summary: 'Save what the owner agreed to. Both questions are answered then and not asked again.',
  request: z.object({
    siteground_settings_security: z.literal([1, '1', true], { error: 'Use 1.' }),
    siteground_data_consent: toggleValue.optional(),
    siteground_email_consent: toggleValue.optional(),
  }),
  response: z.object({ show_data_field: flag, show_email_field: flag }),
});

/** The calls of the page Security Dashboard. */
export const overviewEndpoints = [notifications, hardening, eBook, rate, protectionFacts, updateConsent] as const;
