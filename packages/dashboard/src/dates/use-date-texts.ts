import { useServices } from '../services.js';
import { type DateTexts, dateTexts } from './date-texts.js';

/** Words and forms for days and times in the owner's language. */
export function useDateTexts(): DateTexts {
  const { config } = useServices();
  return dateTexts(config.localeSlug);
}
