import type { Stack } from './stack.js';
import { runInWordPress } from './wordpress.js';

/** Everyone but the owner who has an account on the site, by role. The password is the owner's. */
export const people = { editor: 'an-editor', author: 'an-author', subscriber: 'a-subscriber' } as const;

/** Makes an account for each role and a post with a category and a comment for the tests to look at. */
export async function preparePeople(stack: Stack): Promise<void> {
  const list = Object.entries(people).map(([role, login]) => `'${role}' => '${login}'`);
  await runInWordPress(
    stack,
    `foreach ( array( ${list.join(', ')} ) as $role => $login ) {
      if ( ! username_exists( $login ) ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => $role ) );
      }
    }`,
  );
}
