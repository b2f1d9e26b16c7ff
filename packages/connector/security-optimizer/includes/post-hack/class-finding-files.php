<?php
/**
 * Files that the checkup has found: reads them, so that guard can keep a copy, removes them, and restores them.
 *
 * Only files that the checkup can find are touched: scripts in uploads, and files in WordPress's own folders. Their
 * content has to be the one that was found, and no link is followed.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Finding_Files {

	/** Largest file, bytes. */
	const LARGEST = 4194304;

	/** Bytes of a file in one command or response. */
	const PART = 131072;

	/** Rows of the options table that permit restoring a file: the time by the hash of its path and content. */
	const RECORD = 'security_optimizer_removed_';

	/** How long a file can be restored, seconds; a day longer than guard keeps its copy. */
	const KEPT_FOR = 2678400;

	/** @var string Folder below which the file has to be. */
	private $base;

	/** @var string Full path. */
	private $path;

	/** @var string SHA-256 of the content that was found. */
	private $state;

	/** @var bool Whether only scripts count, as in uploads. */
	private $scripts_only;

	private function __construct( $base, $path, $state, $scripts_only ) {
		$this->base         = $base;
		$this->path         = $path;
		$this->state        = $state;
		$this->scripts_only = $scripts_only;
	}

	/**
	 * @param array $body `check` (`core` or `uploads`), `path` (as the checkup names it, in base64) and `state`.
	 * @return self|null Null if the checkup finds no such files.
	 */
	public static function from( array $body ) {
		foreach ( array( 'check', 'path', 'state' ) as $field ) {
			if ( ! isset( $body[ $field ] ) || ! is_string( $body[ $field ] ) ) {
				return null;
			}
		}
		$name = base64_decode( $body['path'], true );
		if ( false === $name || '' === $name || strcspn( $name, "\0" . ( '\\' === DIRECTORY_SEPARATOR ? '\\' : '' ) ) < strlen( $name ) || ! preg_match( '/\A[0-9a-f]{64}\z/', $body['state'] ) ) {
			return null;
		}
		$root = untrailingslashit( wp_normalize_path( ABSPATH ) );
		if ( 'core' === $body['check'] ) {
			$is_below = preg_match( '#\A(?:wp-admin|wp-includes)/#', $name ) || ( preg_match( '/\.php\z/', $name ) && false === strpos( $name, '/' ) );
			return $is_below && 'wp-config.php' !== strtolower( $name ) ? self::below( $root, $root . '/' . $name, $body['state'], false ) : null;
		}
		if ( 'uploads' !== $body['check'] ) {
			return null;
		}
		$uploads = wp_upload_dir( null, false );
		$base    = untrailingslashit( wp_normalize_path( $uploads['basedir'] ) );
		$inside  = '/' === $name[0] && 0 === strpos( $root . $name, $base . '/' ) ? $root . $name : $name;
		return preg_match( Security_Optimizer_Checkup_Files::SCRIPTS, basename( $name ) ) ? self::below( $base, $inside, $body['state'], true ) : null;
	}

	private static function below( $base, $path, $state, $scripts_only ) {
		if ( 0 !== strpos( $path, $base . '/' ) || preg_match( '#(?:\A|/)(?:\.{0,2})(?:/|\z)#', substr( $path, strlen( $base ) + 1 ) ) ) {
			return null;
		}
		return new self( $base, $path, $state, $scripts_only );
	}

	/**
	 * @param int $offset First byte to read.
	 * @return array|string `content` (at most `PART` bytes, in base64), `size`, `mode` and `at`; or the code of a reason.
	 */
	public function read( $offset ) {
		$reason = $this->find_obstacle();
		if ( '' !== $reason ) {
			return $reason;
		}
		$content = @file_get_contents( $this->path, false, null, $offset, self::PART ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The reason says it.
		if ( false === $content ) {
			return 'not_readable';
		}
		return array(
			'content' => base64_encode( $content ),
			'size'    => (int) filesize( $this->path ),
			'mode'    => fileperms( $this->path ) & 0777,
			'at'      => (int) filemtime( $this->path ),
		);
	}

	/**
	 * @return string '' once the file is gone, or the code of a reason.
	 */
	public function remove() {
		$reason = $this->find_obstacle();
		if ( '' !== $reason ) {
			return $reason;
		}
		if ( ! $this->permit_restoring() ) {
			return 'not_stored';
		}
		// phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The reason says it.
		if ( ! @unlink( $this->path ) ) {
			return 'not_writable';
		}
		$this->forget_code();
		return '';
	}

	/**
	 * Restores a removed file, in parts. The last part completes it.
	 *
	 * @param string $content A part of the content.
	 * @param int    $offset  Its first byte.
	 * @param array  $file    `size` and `mode` of the file, and `at`: the time of its last change.
	 * @return string '' for a part that was written, or the code of a reason.
	 */
	public function restore( $content, $offset, array $file ) {
		if ( ! $this->may_be_restored() ) {
			return 'not_removed_here';
		}
		if ( file_exists( $this->path ) || is_link( $this->path ) ) {
			return 'in_place' === $this->find_state() ? '' : 'another_file';
		}
		$folder = dirname( $this->path );
		if ( ! $this->is_in_real_folder( $folder ) || ! wp_mkdir_p( $folder ) || ! $this->is_in_real_folder( $folder ) ) {
			return 'not_writable';
		}
		// No web server runs a file of this name.
		$part = $folder . '/.restoring-' . substr( $this->state, 0, 16 );
		if ( 0 === $offset && ( file_exists( $part ) || is_link( $part ) ) ) {
			@unlink( $part ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions
		}
		$written = $this->write_part( $part, $content, $offset );
		if ( '' !== $written || $offset + strlen( $content ) < $file['size'] ) {
			return $written;
		}
		return $this->complete( $part, $file );
	}

	private function write_part( $part, $content, $offset ) {
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The reason says it.
		if ( $offset > 0 && ( is_link( $part ) || ! is_file( $part ) || filesize( $part ) !== $offset ) ) {
			return 'interrupted';
		}
		$handle = @fopen( $part, 0 === $offset ? 'xb' : 'ab' );
		if ( ! $handle ) {
			return 'not_writable';
		}
		$length = fwrite( $handle, $content );
		$closed = fclose( $handle );
		// phpcs:enable
		clearstatcache( true, $part );
		return strlen( $content ) === $length && $closed ? '' : 'disk_full';
	}

	private function complete( $part, array $file ) {
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The reason says it.
		if ( hash_file( 'sha256', $part ) !== $this->state ) {
			@unlink( $part );
			return 'interrupted';
		}
		@chmod( $part, $file['mode'] & 0777 );
		@touch( $part, $file['at'] );
		if ( ! @rename( $part, $this->path ) ) {
			@unlink( $part );
			return 'not_writable';
		}
		// phpcs:enable
		$this->forget_code();
		return '';
	}

	/**
	 * @return string Code of the reason why the file can't be removed, or ''.
	 */
	private function find_obstacle() {
		$state = $this->find_state();
		if ( 'in_place' !== $state ) {
			return $state;
		}
		// PHP or WordPress has loaded it for this request, and may fail without it.
		return in_array( realpath( $this->path ), array_map( 'realpath', get_included_files() ), true ) ? 'in_use' : '';
	}

	/**
	 * @return string `in_place` if the file is the one that was found, or the code of the difference.
	 */
	private function find_state() {
		clearstatcache( true, $this->path );
		if ( is_link( $this->path ) || ( file_exists( $this->path ) && ! $this->is_in_real_folder( dirname( $this->path ) ) ) ) {
			return 'linked';
		}
		if ( ! is_file( $this->path ) ) {
			return 'gone';
		}
		if ( filesize( $this->path ) > self::LARGEST ) {
			return 'too_large';
		}
		if ( ! is_readable( $this->path ) ) {
			return 'not_readable';
		}
		if ( hash_file( 'sha256', $this->path ) !== $this->state || ( $this->scripts_only && ! Security_Optimizer_Checkup_Files::is_script( $this->path ) ) ) {
			return 'changed';
		}
		return 'in_place';
	}

	/**
	 * Whether no folder between the base and the file, as far as they exist, is a link.
	 */
	private function is_in_real_folder( $folder ) {
		while ( ! file_exists( $folder ) && ! is_link( $folder ) && $folder !== $this->base ) {
			$folder = dirname( $folder );
		}
		$real = realpath( $folder );
		$base = realpath( $this->base );
		return false !== $real && false !== $base && wp_normalize_path( $real ) === wp_normalize_path( $base ) . substr( $folder, strlen( $this->base ) );
	}

	private function record_name() {
		return self::RECORD . hash( 'sha256', $this->path . "\n" . $this->state );
	}

	/**
	 * Records what is removed: guard may only write back what this site had, so that its secret permits no other file.
	 */
	private function permit_restoring() {
		Security_Optimizer_Option_Rows::delete_older( self::RECORD, time() - self::KEPT_FOR );
		$value = Security_Optimizer_Option_Rows::time( time() );
		return Security_Optimizer_Database_Retry::run(
			function () use ( $value ) {
				return 1 === Security_Optimizer_Option_Rows::insert( $this->record_name(), $value )
					|| false !== Security_Optimizer_Option_Rows::update( $this->record_name(), $value );
			}
		);
	}

	private function may_be_restored() {
		$value = Security_Optimizer_Option_Rows::read( $this->record_name() );
		return null !== $value && (int) $value > time() - self::KEPT_FOR;
	}

	/**
	 * PHP may keep the code of a removed file in its cache.
	 */
	private function forget_code() {
		clearstatcache( true, $this->path );
		if ( function_exists( 'opcache_invalidate' ) ) {
			@opcache_invalidate( $this->path, true ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged -- Some hosts forbid it.
		}
	}
}
