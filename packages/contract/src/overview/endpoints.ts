import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { flag } from '../shapes.js';

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

export const notifications = endpoint({
  name: 'notifications',
  suffix: '/notifications',
  methods: ['POST', 'GET'],
  response: z.array(notification),
});

export const hardening = endpoint({
  name: 'hardening',
  suffix: '/hardening',
  methods: ['POST', 'GET'],
  response: z.array(hardeningItem),
});

export const eBook = endpoint({
  name: 'ebook',
  suffix: '/e-book',
  methods: ['POST', 'GET'],
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
  response: rateState,
});

export const protectionFacts = endpoint({
  name: 'protectionFacts',
  suffix: '/protection-facts',
  methods: ['POST', 'GET'],
  response: protectionFactsSchema,
});

/** The only endpoint of the provider's shared settings API. */
export const updateConsent = endpoint({
  name: 'update:consent',
  namespace: 'provider',
  suffix: '/update-settings',
  methods: ['PUT', 'POST'],
  response: z.object({ show_data_field: flag, show_email_field: flag }),
});

/** Endpoints of the page Security Dashboard. */
export const overviewEndpoints = [notifications, hardening, eBook, rate, protectionFacts, updateConsent] as const;
