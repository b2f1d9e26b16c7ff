# A replacement for sendmail: writes the message from standard input into a file in the folder named first.
exec cat > "$(mktemp "$1/mail-XXXXXXXX")"
