import type { Language } from '../i18n/language.js';
import { cataloguesFolder, type LanguageFor, listLanguages } from '../i18n/languages.js';
import { renderNotice } from '../mail/notice-mail.js';
import type { ResetMail, ResetMails } from '../wordpress/connector-commands.js';

/** Placeholders that WordPress fills in for each user, since only WordPress knows the link and how long it works. */
const PLACEHOLDERS = {
  site: '{{site}}',
  login: '{{login}}',
  link: '{{link}}',
  until: '{{until}}',
  date: '{{date}}',
} as const;

/**
 * Creates the mails of Force password reset, one for each language. WordPress sends each user the one in the user's
 * language.
 * @param folder of the catalogues; without them there is English alone
 */
export function createResetMails(languages: LanguageFor, folder: () => string = cataloguesFolder): ResetMails {
  return Object.fromEntries(list(languages, folder).map((language) => [language.locale, createResetMail(language)]));
}

function list(languages: LanguageFor, folder: () => string): readonly Language[] {
  try {
    return listLanguages(languages, folder());
  } catch {
    return [languages('en_US')];
  }
}

/** Creates the mail with the link to choose a new password, in the common frame of guard's mails. */
export function createResetMail(language: Language): ResetMail {
  const { translate } = language;
  const { site, login, link, until, date } = PLACEHOLDERS;
  const headline = translate('Choose a new password');
  return renderNotice(
    {
      subject: translate('[{site}] Choose a new password', { site }),
      date,
      headline,
      lead: translate(
        'For the security of {site} everyone has to choose a new password. Your old one does not work any more.',
        { site },
      ),
      facts: [
        { name: translate('Site'), value: site },
        { name: translate('Username'), value: login },
        { name: translate('The link works until'), value: until },
      ],
      task: {
        kind: 'info',
        title: translate('Your link works once'),
        text: translate('After {until}, ask for a new link with “Lost your password?” on the login page.', { until }),
        button: { href: link, label: headline },
      },
      reason: translate('You get this mail because you have an account on {site}.', { site }),
    },
    language,
  );
}
