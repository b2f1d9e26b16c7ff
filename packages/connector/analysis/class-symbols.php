<?php
/**
 * Functions, classes and constants of a code base, read from its syntax trees.
 *
 * @package Security_Optimizer
 */

use PhpParser\Node;
use PhpParser\NodeFinder;
use PhpParser\ParserFactory;

final class Symbols {

	/** @var array[] Functions by lower-case name: `min`, `max` and `by_ref` of parameters, `since`. */
	public $functions = array();

	/**
	 * @var array[] Classes by lower-case name: `parent`, `since`, `methods`, `constants`, `properties`, and `open`:
	 * kinds of members that it may have more of by magic methods.
	 */
	public $classes = array();

	/** @var true[] Constants. */
	public $constants = array();

	/**
	 * @param string[] $files Paths of PHP files.
	 */
	public function read( array $files ) {
		foreach ( $files as $file ) {
			$this->add( self::parse( file_get_contents( $file ) ) );
		}
	}

	/**
	 * @param string $code PHP code.
	 * @return Node[]
	 * @throws PhpParser\Error For code that is no PHP.
	 */
	public static function parse( $code ) {
		static $parser = null;
		if ( null === $parser ) {
			$parser = ( new ParserFactory() )->create( ParserFactory::ONLY_PHP7 );
		}
		return $parser->parse( $code );
	}

	/**
	 * @param Node[] $tree Syntax tree of a file.
	 */
	public function add( array $tree ) {
		$finder = new NodeFinder();
		foreach ( $finder->findInstanceOf( $tree, Node\Stmt\Function_::class ) as $node ) {
			$name = $node->name->toLowerString();
			if ( ! isset( $this->functions[ $name ] ) ) {
				$this->functions[ $name ] = self::signature( $node );
			}
		}
		// Those of WP-CLI have their full names.
		foreach ( $finder->findInstanceOf( $tree, Node\Stmt\Namespace_::class ) as $space ) {
			foreach ( null === $space->name ? array() : $finder->findInstanceOf( $space->stmts, Node\Stmt\Function_::class ) as $node ) {
				$this->functions[ $space->name->toLowerString() . '\\' . $node->name->toLowerString() ] = self::signature( $node );
			}
		}
		foreach ( $finder->findInstanceOf( $tree, Node\Stmt\ClassLike::class ) as $node ) {
			if ( null !== $node->name && ! isset( $this->classes[ $node->name->toLowerString() ] ) ) {
				$this->classes[ $node->name->toLowerString() ] = self::describe( $node );
			}
		}
		foreach ( $finder->findInstanceOf( $tree, Node\Stmt\Const_::class ) as $node ) {
			foreach ( $node->consts as $constant ) {
				$this->constants[ (string) $constant->name ] = true;
			}
		}
		foreach ( $finder->findInstanceOf( $tree, Node\Expr\FuncCall::class ) as $node ) {
			if ( $node->name instanceof Node\Name && 'define' === $node->name->toLowerString() && isset( $node->args[0] ) && $node->args[0]->value instanceof Node\Scalar\String_ ) {
				$this->constants[ $node->args[0]->value->value ] = true;
			}
		}
	}

	/**
	 * @param string $name Name of a function.
	 * @return array|null As in `functions`; null if neither the code base nor PHP has it.
	 */
	public function find_function( $name ) {
		$name   = strtolower( $name );
		$is_php = function_exists( $name ) && ( new ReflectionFunction( $name ) )->isInternal() && ! in_array( $name, NEWER_FUNCTIONS, true );
		if ( $is_php ) {
			return self::reflect( new ReflectionFunction( $name ) );
		}
		return isset( $this->functions[ $name ] ) ? $this->functions[ $name ] : null;
	}

	/**
	 * @param string $name Name of a class or interface.
	 * @return bool
	 */
	public function has_class( $name ) {
		$name = strtolower( $name );
		return isset( $this->classes[ $name ] ) || class_exists( $name, false ) || interface_exists( $name, false );
	}

	/**
	 * @param string $class_name Name of a class.
	 * @param string $kind       `methods`, `constants` or `properties`.
	 * @param string $name       Name of the member.
	 * @return array|null Its description; null if the class and its parents do not have it; `array()` if they may have
	 *                    it.
	 */
	public function find_member( $class_name, $kind, $name ) {
		$key = 'methods' === $kind ? strtolower( $name ) : $name;
		for ( $at = strtolower( $class_name ); isset( $this->classes[ $at ] ); $at = $class['parent'] ) {
			$class = $this->classes[ $at ];
			if ( isset( $class[ $kind ][ $key ] ) ) {
				return $class[ $kind ][ $key ] + array( 'class' => $at );
			}
			if ( in_array( $kind, $class['open'], true ) ) {
				return array();
			}
			if ( null === $class['parent'] ) {
				return null;
			}
		}
		if ( 'methods' === $kind && method_exists( $at, $key ) ) {
			$method = new ReflectionMethod( $at, $key );
			return self::reflect( $method ) + array(
				'static' => $method->isStatic(),
				'public' => $method->isPublic(),
				'class'  => $at,
			);
		}
		return 'constants' === $kind && ! defined( "$at::$name" ) ? null : array();
	}

	private static function reflect( ReflectionFunctionAbstract $function ) {
		$by_ref = array();
		foreach ( $function->getParameters() as $at => $parameter ) {
			if ( $parameter->isPassedByReference() ) {
				$by_ref[ $at ] = true;
			}
		}
		return array(
			'min'    => $function->getNumberOfRequiredParameters(),
			'max'    => $function->isVariadic() ? PHP_INT_MAX : $function->getNumberOfParameters(),
			'by_ref' => $by_ref,
			'since'  => '0',
		);
	}

	private static function signature( $node ) {
		$described = array(
			'min'    => 0,
			'max'    => 0,
			'by_ref' => array(),
			'since'  => self::since( $node ),
		);
		foreach ( $node->params as $at => $param ) {
			if ( $param->byRef ) { // phpcs:ignore WordPress.NamingConventions.ValidVariableName -- The parser's name.
				$described['by_ref'][ $at ] = true;
			}
			if ( $param->variadic ) {
				$described['max'] = PHP_INT_MAX;
				continue;
			}
			++$described['max'];
			if ( null === $param->default ) {
				$described['min'] = $at + 1;
			}
		}
		// Functions may read further arguments themselves.
		$calls = ( new NodeFinder() )->find(
			(array) $node->stmts,
			static function ( Node $inner ) {
				return $inner instanceof Node\Expr\FuncCall && $inner->name instanceof Node\Name && 'func_get_args' === $inner->name->toLowerString();
			}
		);
		if ( array() !== $calls ) {
			$described['max'] = PHP_INT_MAX;
		}
		return $described;
	}

	private static function describe( Node\Stmt\ClassLike $node ) {
		$class = array(
			'parent'     => $node instanceof Node\Stmt\Class_ && null !== $node->extends ? $node->extends->toLowerString() : null,
			'since'      => self::since( $node ),
			'methods'    => array(),
			'constants'  => array(),
			'properties' => array(),
			'open'       => array() === $node->getTraitUses() ? array() : array( 'methods', 'constants', 'properties' ),
		);
		foreach ( $node->getMethods() as $method ) {
			$name = $method->name->toLowerString();

			if ( '__get' === $name || '__call' === $name ) {
				$class['open'][] = '__get' === $name ? 'properties' : 'methods';
			}
			$class['methods'][ $name ] = self::signature( $method ) + array(
				'static' => $method->isStatic(),
				'public' => $method->isPublic(),
			);
		}
		foreach ( $node->getConstants() as $constants ) {
			foreach ( $constants->consts as $constant ) {
				$class['constants'][ (string) $constant->name ] = array( 'public' => $constants->isPublic() );
			}
		}
		foreach ( $node->getProperties() as $properties ) {
			foreach ( $properties->props as $property ) {
				$class['properties'][ (string) $property->name ] = array(
					'static' => $properties->isStatic(),
					'public' => $properties->isPublic(),
				);
			}
		}
		return $class;
	}

	/** The release that introduced it, from its comment; '0' if unknown. */
	private static function since( Node $node ) {
		$comment = $node->getDocComment();
		return null !== $comment && preg_match( '/@since\s+([\d.]+)/', $comment->getText(), $part ) ? $part[1] : '0';
	}
}
