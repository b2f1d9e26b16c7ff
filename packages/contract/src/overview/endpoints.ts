import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { flag, toggleValue } from '../shapes.js';

/** A problem that a check found and the owner must fix. It disappears once it is fixed. */
export const notification = z.object({
  id: z.string(),
  /** `danger` before `warning` before `info`. */
  level: z.enum(['danger', 'warning', 'info']),
  title: z.string(),
  text: z.string(),
  button_link: z.string(),
  button_text: z.string(),
});
export type Notification = z.infer<typeof notification>;

export const hardeningItem = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  icon: z.string(),
  button_link: z.string(),
  button_text: z.string(),
  /** Number of essentials of this page that are on, and the number of all. */
  on: z.int(),
  total: z.int(),
});
export type HardeningItem = z.infer<typeof hardeningItem>;

/** The provider's free e-book; null if none is configured. */
export const ebook = z.object({ title: z.string(), link: z.string(), text: z.string(), image: z.string() });
export type Ebook = z.infer<typeof ebook>;

const reads = { methods: ['POST', 'GET'], request: z.object({}) } as const;

export const notifications = endpoint({
  ...reads,
  name: 'notifications',
  suffix: '/notifications',
  summary: 'The notifications for the owner, most urgent first.',
  response: z.array(notification),
});

export const hardening = endpoint({
  ...reads,
  name: 'hardening',
  suffix: '/hardening',
  summary: 'A card for each page with essentials, and the essentials that are still off.',
  response: z.array(hardeningItem),
});

export const eBook = endpoint({
  ...reads,
  name: 'ebook',
  suffix: '/e-book',
  summary: 'Figures below the protection score; unknown ones are null.',
  response: z.nullable(ebook),
});

/** Whether to ask for a review, and its URL; `link` is empty if the provider has none. */
export const rateState = z.object({ show: flag, link: z.string() });
export type RateState = z.infer<typeof rateState>;

/** Figures below the protection score; unknown ones are null. */
export const protectionFactsSchema = z.object({
  /** Refused visits of the last 7 days. */
  blocked: z.nullable(z.int()),
  /** Number of entries in the list of `/blocked-users`, including lockouts after failed logins. */
  block_list: z.nullable(z.int()),
  /** Failed logins of the last 7 days. */
  failed_logins: z.nullable(z.int()),
});

export const rate = endpoint({
  name: 'rate',
  suffix: '/rate',
  methods: ['POST', 'GET'],
  summary: 'Whether to ask for a review (after a week of use). With `show: 0` it is never asked again.',
  request: z.object({ show: z.optional(z.literal([0, '0', false], { error: 'Use 0.' })) }),
  response: rateState,
});

export const protectionFacts = endpoint({
  ...reads,
  name: 'protectionFacts',
  suffix: '/protection-facts',
  summary: 'Figures below the protection score, each null when it is not known.',
  response: protectionFactsSchema,
});

/** The only endpoint of the provider's shared settings API. */
export const updateConsent = endpoint({
  name: 'update:consent',
  namespace: 'provider',
  suffix: '/update-settings',
  methods: ['PUT', 'POST'],
  summary: 'Save the owner’s consent. Both questions count as answered and are not asked again.',
  request: z.object({
    siteground_settings_security: z.literal([1, '1', true], { error: 'Use 1.' }),
    siteground_data_consent: z.optional(toggleValue),
    siteground_email_consent: z.optional(toggleValue),
  }),
  response: z.object({ show_data_field: flag, show_email_field: flag }),
});

/** Endpoints of the page Security Dashboard. */
export const overviewEndpoints = [notifications, hardening, eBook, rate, protectionFacts, updateConsent] as const;
