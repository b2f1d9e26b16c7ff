import * as z from 'zod/mini';
import { noInput, type RequestsOf } from '../request.js';
import { toggleValue } from '../shapes.js';
import type { overviewEndpoints } from './endpoints.js';

export const overviewRequests = {
  notifications: { summary: 'The notifications for the owner, most urgent first.', schema: noInput },
  hardening: {
    summary: 'A card for each page with essentials, and the essentials that are still off.',
    schema: noInput,
  },
  ebook: { summary: 'The provider’s e-book, or nothing if there is none.', schema: noInput },
  rate: {
    summary: 'Whether to ask for a review (after a week of use). With `show: 0` it is never asked again.',
    schema: z.object({ show: z.optional(z.literal([0, '0', false], { error: 'Use 0.' })) }),
  },
  protectionFacts: {
    summary: 'Figures below the protection score, each null when it is not known.',
    schema: noInput,
  },
  'update:consent': {
    summary: 'Save the owner’s consent. Both questions count as answered and are not asked again.',
    schema: z.object({
      siteground_settings_security: z.literal([1, '1', true], { error: 'Use 1.' }),
      siteground_data_consent: z.optional(toggleValue),
      siteground_email_consent: z.optional(toggleValue),
    }),
  },
} satisfies RequestsOf<(typeof overviewEndpoints)[number]>;
