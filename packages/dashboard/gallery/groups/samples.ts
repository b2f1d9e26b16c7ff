import { type DateTexts, dateTexts } from '../../src/dates/date-texts.js';

export const nothing = (): void => undefined;

/** A text as long as translations and names get. */
export const LONG = 'Eingeschränkte Zugriffsberechtigungsverwaltungseinstellungen für alle Benutzerinnen und Benutzer';
/** A word that cannot be broken at a space. */
export const UNBROKEN = 'a-host-name-that-is-much-longer-than-its-column.subdomain.of.a.very.long.domain.example.net';

/** The day of the sample data. */
export const TODAY = '2026-11-21';

export const english24: DateTexts = dateTexts('en-GB');
export const english12: DateTexts = dateTexts('en-US');
