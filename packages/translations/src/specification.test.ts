import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { collectTexts } from './collect-texts.js';

/** Titles, labels and messages of the specification, in its order. */
const WORDS = {
  'pages (section 2)': [
    ...['Security Optimizer', 'Security Optimizer - Login Security', 'Security Optimizer - Site Security'],
    ...['Security Optimizer - Activity Log', 'Security Optimizer - Post-hack Actions', 'Error', 'Success'],
  ],
  'the Security Dashboard': [
    ...['Important Notifications', 'Security Hardening', 'Rate Us', 'Recent Activity', 'Unknown', 'Registered'],
    'View all logs',
  ],
  'the Activity Log': [
    ...['Unknown Visitors Activity', 'Registered Users Activity', 'Blocked', 'Weekly Reports', 'Log Settings'],
    ...['Load More', 'Manage User Traffic', 'Manage IP Traffic', 'Edit Notification Email'],
    ...['Delete Notification Email', 'Create'],
  ],
  'Login Security': [
    ...['Custom Login URL', 'recommended', 'Login Access', 'Two-factor Authentication for Admin & Editors Users'],
    ...['Disable Common Usernames', 'Limit Login Attempts', 'Configure Login URL', 'Change Common Usernames'],
    ...['Manage Login Access', 'Reset 2-factor Authentication', 'Configure Away Mode', 'Away Mode'],
    ...['Specific Period', 'Weekly', 'Daily', 'From', 'To'],
  ],
  'Site Security': [
    ...['Lock and Protect System Folders', 'Hide WordPress Version', 'Disable Themes & Plugins Editor'],
    ...['Disable XML-RPC', 'Disable RSS and ATOM Feeds', 'Advanced XSS Protection', 'Delete the Default Readme.html'],
  ],
  'Post-hack Actions and consent': [
    ...['Reinstall all', 'Force password reset', 'Log out all users', 'Get the Most of This Plugin'],
  ],
  'validation (section 5)': [
    ...['This field is required.', 'Invalid email address.', 'Email %(name)s already exists.', 'Invalid format.'],
    "You can't enable Away Mode for every day of the week.",
    'You can enable Away Mode for maximum of 23 hours daily.',
    ...['Username {name} already typed.', 'Username {name} already exists.', 'Username {name} is not allowed.'],
  ],
  'errors (section 8)': [
    ...['An error occurred. Please try again later', 'No JSON from WP api!'],
    ...['Could not connect to the WordPress REST API', 'Nothing was found'],
  ],
} as const;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const texts = new Set((await collectTexts(root)).map(({ text }) => text));

it.each(Object.entries(WORDS))('the texts of %s are those of the specification, letter by letter', (_part, words) => {
  expect(words.filter((text) => !texts.has(text))).toEqual([]);
});
