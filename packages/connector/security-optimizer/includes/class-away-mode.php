<?php
/**
 * While the owner is away: who is still signed in changes nothing by the REST API.
 *
 * Guard refuses such calls by their address. WordPress also takes the route from the body of a form posted to any page
 * (`rest_route`), and a network serves the API below the path of each site: only WordPress knows them all.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Away_Mode {

	/**
	 * Filter `rest_request_before_callbacks`.
	 *
	 * @param mixed           $answer  Passed on.
	 * @param array           $handler Not used.
	 * @param WP_REST_Request $request The call.
	 * @return mixed
	 */
	public static function refuse_change( $answer, $handler, $request ) {
		if ( is_wp_error( $answer ) || ! is_user_logged_in() || in_array( $request->get_method(), array( 'GET', 'HEAD', 'OPTIONS' ), true ) ) {
			return $answer;
		}
		return new WP_Error( 'away_mode', __( 'The admin area is closed.', 'security-optimizer' ), array( 'status' => 403 ) );
	}
}
