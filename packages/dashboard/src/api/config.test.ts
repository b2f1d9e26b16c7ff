import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';

const ADDRESS = 'https://example.com/blog/wp-admin/admin.php?page=site-security';

function read(config: string | undefined, page?: string) {
  const container = document.createElement('div');
  if (config !== undefined) container.dataset.config = config;
  if (page !== undefined) container.dataset.page = page;
  return readConfig(container, ADDRESS);
}

const defaults = {
  page: null,
  restBase: 'https://example.com/blog/index.php?rest_route=/',
  homeUrl: 'https://example.com/blog/',
  assetsPath: '',
  localeData: null,
  localeSlug: 'en',
  nonce: '',
  nonceUrl: 'https://example.com/blog/wp-admin/admin-ajax.php?action=rest-nonce',
  loginUrl: `https://example.com/blog/wp-login.php?redirect_to=${encodeURIComponent(ADDRESS)}`,
  pages: [],
  consent: { showDataField: false, showEmailField: false },
};

describe('readConfig', () => {
  it('parses the configuration of the connector', () => {
    const config = read(
      JSON.stringify({
        rest_base: 'https://example.com/wp-json/',
        home_url: 'https://example.com/',
        log_page_url: 'https://example.com/wp-admin/admin.php?page=activity-log',
        assets_path: 'https://example.com/assets',
        locale: '{"": {}, "On": ["Ein"]}',
        localeSlug: 'de',
        wp_nonce: 'abc1234567',
        nonce_url: 'https://example.com/nonce',
        pages: [{ slug: 'site-security', url: 'https://example.com/p' }],
        data_consent_popup: { show_data_field: 1, show_email_field: '0' },
      }),
      'ACTIVITY_LOG',
    );
    expect(config).toMatchObject({
      page: 'ACTIVITY_LOG',
      restBase: 'https://example.com/wp-json/',
      logPageUrl: 'https://example.com/wp-admin/admin.php?page=activity-log',
      assetsPath: 'https://example.com/assets/',
      localeData: { On: ['Ein'] },
      localeSlug: 'de',
      nonce: 'abc1234567',
      nonceUrl: 'https://example.com/nonce',
      pages: [{ slug: 'site-security', url: 'https://example.com/p' }],
      consent: { showDataField: true, showEmailField: false },
    });
  });

  it.each([undefined, '', 'null', '[]', '{broken', '7'])('has defaults for the configuration %j', (config) => {
    expect(read(config)).toMatchObject(defaults);
  });

  it('has a default for each value of the wrong type', () => {
    const wrong = { rest_base: 7, home_url: null, assets_path: [], locale: '{broken', localeSlug: {}, pages: [1, {}] };
    expect(read(JSON.stringify(wrong), 'NO_SUCH_PAGE')).toMatchObject(defaults);
  });
});
