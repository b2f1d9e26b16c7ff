import type { Stack } from './stack.js';
import { runInWordPress } from './wordpress.js';

/** Everyone but the owner who has an account on the site, by role. The password is the owner's. */
export const people = { editor: 'an-editor', author: 'an-author', subscriber: 'a-subscriber' } as const;

/**
 * Makes an account for each role. The owner has seen the editors' guided tours, which would lie over the page, and
 * WordPress knows already what it finds out on the first visit to wp-admin, whether browsers take compressed scripts,
 * since that changes the links on every page after it.
 */
export async function prepareSite(stack: Stack): Promise<void> {
  const list = Object.entries(people).map(([role, login]) => `'${role}' => '${login}'`);
  await runInWordPress(
    stack,
    `foreach ( array( ${list.join(', ')} ) as $role => $login ) {
      if ( ! username_exists( $login ) ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => $role ) );
      }
    }
    $tours = array( 'welcomeGuide' => false );
    update_user_meta( 1, $GLOBALS['wpdb']->get_blog_prefix() . 'persisted_preferences', array(
      'core/edit-post' => $tours,
      'core/edit-site' => $tours,
      '_modified'      => gmdate( 'c' ),
    ) );
    update_site_option( 'can_compress_scripts', 1 );`,
  );
}
