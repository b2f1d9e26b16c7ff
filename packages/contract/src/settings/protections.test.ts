import { expect, test } from 'vitest';
import { defaultSecurityOptions, siteSecurityToggles } from './protections.js';

test('the catalogue contains the seven toggles of the specification in its order, with their fields and endpoints', () => {
  expect(siteSecurityToggles.map(({ title, field, suffix }) => [title, field, suffix])).toEqual([
    ['Lock and Protect System Folders', 'lock_system_folders', '/lock-system-folders'],
    ['Hide WordPress Version', 'wp_remove_version', '/hide-wp-version'],
    ['Disable Themes & Plugins Editor', 'disable_file_edit', '/disable-editors'],
    ['Disable XML-RPC', 'disable_xml_rpc', '/disable-xml-rpc'],
    ['Disable RSS and ATOM Feeds', 'disable_feed', '/disable-feeds'],
    ['Advanced XSS Protection', 'xss_protection', '/xss-protection'],
    ['Delete the Default Readme.html', 'delete_readme', '/delete-readme'],
  ]);
});

test('on a fresh site feeds and readme are unchanged and every other toggle is on', () => {
  expect(defaultSecurityOptions).toEqual({
    lock_system_folders: 1,
    wp_remove_version: 1,
    disable_file_edit: 1,
    disable_xml_rpc: 1,
    disable_feed: 0,
    xss_protection: 1,
    delete_readme: 0,
  });
});

test('every row but the readme’s can have the label “recommended”', () => {
  expect(siteSecurityToggles.filter(({ essential }) => !essential).map(({ field }) => field)).toEqual([
    'delete_readme',
  ]);
});
