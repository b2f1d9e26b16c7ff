<?php
/**
 * Finds and replaces the security keys in the text of a configuration file.
 *
 * It reads tokens and executes nothing. Only a new request knows the effective keys (class-salts.php).
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Config_Keys {

	/** Tokens of a literal value. */
	const PLAIN = array( T_CONSTANT_ENCAPSED_STRING, T_START_HEREDOC, T_ENCAPSED_AND_WHITESPACE, T_END_HEREDOC, T_LNUMBER, T_DNUMBER );

	/** Tokens before `define` that make it a different function. */
	const NOT_BEFORE = array( T_OBJECT_OPERATOR, T_DOUBLE_COLON, T_FUNCTION, T_NEW, T_CONST );

	/** @var array Tokens as `array( kind, text )`. The kind of a single character is the character. */
	private $tokens = array();

	/** @var int[] Indexes of the tokens that are neither whitespace nor comment. */
	private $places = array();

	/** @var array[] `name`, `from` and `to` (token indexes of the value), `plain`, `value` (null if unknown). */
	private $found = array();

	/**
	 * @param string   $text  A PHP file.
	 * @param string[] $names Constants to find.
	 */
	public function __construct( $text, array $names ) {
		foreach ( token_get_all( $text ) as $token ) {
			$kind           = is_array( $token ) ? $token[0] : $token;
			$this->tokens[] = array( $kind, is_array( $token ) ? $token[1] : $token );
			if ( ! in_array( $kind, array( T_WHITESPACE, T_COMMENT, T_DOC_COMMENT ), true ) ) {
				$this->places[] = count( $this->tokens ) - 1;
			}
		}
		$in_namespace = $this->has_namespace();
		$class_ends   = $this->find_class_bodies();
		foreach ( array_keys( $this->places ) as $at ) {
			if ( $this->is_define( $at ) ) {
				$this->read_define( $at, $names );
			} elseif ( T_CONST === $this->kind( $at ) && ! $in_namespace && ! isset( $class_ends[ $at ] ) ) {
				$this->read_const( $at, $names );
			}
		}
	}

	/**
	 * @return array[] In the order of the file: `name`, `plain` (whether the value is a literal), `value` (its text,
	 *                 null if unknown).
	 */
	public function definitions() {
		return $this->found;
	}

	/**
	 * Replaces every literal value. Nothing else changes.
	 *
	 * @param callable $make Returns a new value without quotes and backslashes.
	 * @return string|null The new text; null when there is nothing to replace, or when PHP can't parse the result.
	 */
	public function with_new_values( callable $make ) {
		$plain = array_filter( array_column( $this->found, 'plain' ) );
		if ( array() === $plain ) {
			return null;
		}
		$skip = array();
		$put  = array();
		foreach ( $this->found as $one ) {
			if ( $one['plain'] ) {
				$skip               += array_fill_keys( range( $one['from'], $one['to'] ), true );
				$put[ $one['from'] ] = "'" . call_user_func( $make ) . "'";
			}
		}
		$new = '';
		foreach ( $this->tokens as $at => $token ) {
			if ( isset( $put[ $at ] ) ) {
				$new .= $put[ $at ];
			} elseif ( ! isset( $skip[ $at ] ) ) {
				$new .= $token[1];
			}
		}
		try {
			token_get_all( $new, TOKEN_PARSE );
		} catch ( ParseError $error ) {
			return null;
		}
		return $new;
	}

	private function kind( $at ) {
		return isset( $this->places[ $at ] ) ? $this->tokens[ $this->places[ $at ] ][0] : null;
	}

	private function text( $at ) {
		return isset( $this->places[ $at ] ) ? $this->tokens[ $this->places[ $at ] ][1] : '';
	}

	/**
	 * Whether the file declares a namespace, so that `const` defines no global constant.
	 */
	private function has_namespace() {
		foreach ( array_keys( $this->places ) as $at ) {
			// `namespace\name` is no declaration. `namespace { }` is the global namespace.
			if ( T_NAMESPACE === $this->kind( $at ) && T_NS_SEPARATOR !== $this->kind( $at + 1 ) && '{' !== $this->kind( $at + 1 ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @return true[] Indexes of the tokens inside of classes, where `const` defines class constants.
	 */
	private function find_class_bodies() {
		$inside = array();
		$depth  = 0;
		$ends   = null;
		$opens  = false;
		$kinds  = array( T_CLASS, T_INTERFACE, T_TRAIT );
		if ( defined( 'T_ENUM' ) ) {
			$kinds[] = constant( 'T_ENUM' );
		}
		foreach ( array_keys( $this->places ) as $at ) {
			$kind = $this->kind( $at );
			if ( in_array( $kind, array( '{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES ), true ) ) {
				++$depth;
				if ( $opens && null === $ends ) {
					$ends = $depth;
				}
				$opens = false;
			} elseif ( '}' === $kind ) {
				$ends = $ends === $depth ? null : $ends;
				--$depth;
			} elseif ( in_array( $kind, $kinds, true ) && T_DOUBLE_COLON !== $this->kind( $at - 1 ) ) {
				$opens = true;
			}
			if ( null !== $ends ) {
				$inside[ $at ] = true;
			}
		}
		return $inside;
	}

	/**
	 * Whether PHP's own `define` is called here, in any case, also as `\define`.
	 */
	private function is_define( $at ) {
		$full = defined( 'T_NAME_FULLY_QUALIFIED' ) ? constant( 'T_NAME_FULLY_QUALIFIED' ) : -1;
		if ( '(' !== $this->kind( $at + 1 ) ) {
			return false;
		}
		if ( $full === $this->kind( $at ) ) {
			return '\\define' === strtolower( $this->text( $at ) );
		}
		if ( T_STRING !== $this->kind( $at ) || 'define' !== strtolower( $this->text( $at ) ) ) {
			return false;
		}
		$before   = T_NS_SEPARATOR === $this->kind( $at - 1 ) ? $this->kind( $at - 2 ) : $this->kind( $at - 1 );
		$nullsafe = defined( 'T_NULLSAFE_OBJECT_OPERATOR' ) ? constant( 'T_NULLSAFE_OBJECT_OPERATOR' ) : -1;
		// Before PHP 8, `Name\define` consists of several tokens.
		$qualified = T_NS_SEPARATOR === $this->kind( $at - 1 ) && in_array( $before, array( T_STRING, T_NAMESPACE ), true );
		return ! $qualified && $nullsafe !== $before && ! in_array( $before, self::NOT_BEFORE, true );
	}

	private function read_define( $at, array $names ) {
		if ( T_CONSTANT_ENCAPSED_STRING !== $this->kind( $at + 2 ) || ',' !== $this->kind( $at + 3 ) ) {
			return;
		}
		$name = substr( $this->text( $at + 2 ), 1, -1 );
		if ( in_array( $name, $names, true ) ) {
			$this->add( $name, $at + 4 );
		}
	}

	private function read_const( $at, array $names ) {
		do {
			if ( T_STRING !== $this->kind( $at + 1 ) || '=' !== $this->kind( $at + 2 ) ) {
				return;
			}
			$name = $this->text( $at + 1 );
			$end  = $this->find_value_end( $at + 3 );
			if ( in_array( $name, $names, true ) ) {
				$this->add( $name, $at + 3 );
			}
			$at = $end;
		} while ( ',' === $this->kind( $at ) );
	}

	private function add( $name, $first ) {
		$end = $this->find_value_end( $first );
		if ( null === $end || $end === $first ) {
			return;
		}
		$plain = true;
		$value = '';
		for ( $at = $first; $at < $end; ++$at ) {
			$kind  = $this->kind( $at );
			$plain = $plain && ( in_array( $kind, self::PLAIN, true ) || in_array( $kind, array( '.', '(', ')' ), true ) );
			if ( T_CONSTANT_ENCAPSED_STRING === $kind ) {
				$part  = self::decode( $this->text( $at ) );
				$value = null === $value || null === $part ? null : $value . $part;
			} elseif ( ! in_array( $kind, array( '.', '(', ')' ), true ) ) {
				$value = null;
			}
		}
		$from = $this->places[ $first ];
		$to   = $this->places[ $end - 1 ];
		for ( $token = $from; $token <= $to; ++$token ) {
			// Replacing the value would delete a comment inside of it.
			$plain = $plain && ! in_array( $this->tokens[ $token ][0], array( T_COMMENT, T_DOC_COMMENT ), true );
		}
		$this->found[] = compact( 'name', 'from', 'to', 'plain', 'value' );
	}

	/**
	 * @param int $at Index of the value's first token.
	 * @return int|null Index of the comma, bracket or semicolon after it.
	 */
	private function find_value_end( $at ) {
		$depth = 0;
		$count = count( $this->places );
		for ( ; $at < $count; ++$at ) {
			$kind = $this->kind( $at );
			if ( in_array( $kind, array( '(', '[', '{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES ), true ) ) {
				++$depth;
			} elseif ( 0 === $depth && in_array( $kind, array( ',', ')', ';', T_CLOSE_TAG ), true ) ) {
				return $at;
			} elseif ( in_array( $kind, array( ')', ']', '}' ), true ) ) {
				--$depth;
			}
		}
		return null;
	}

	/**
	 * @param string $literal A string literal of PHP.
	 * @return string|null Its value; null if it has other escapes than quotes and backslashes.
	 */
	private static function decode( $literal ) {
		$inner = substr( $literal, 1, -1 );
		if ( "'" === $literal[0] ) {
			return strtr(
				$inner,
				array(
					'\\\\' => '\\',
					"\\'"  => "'",
				)
			);
		}
		return '"' === $literal[0] && false === strpos( $inner, '\\' ) ? $inner : null;
	}
}
