#!/bin/sh
# Runs a command in which words that begin with the folder lose it.
# Usage: relative_paths.sh FOLDER/ command...    in that folder
folder=$1
shift
for word; do
  shift
  case $word in "$folder"*) word=${word#"$folder"} ;; esac
  set -- "$@" "$word"
done
exec "$@"
