# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_carlosctl_global_optspecs
    string join \n bucket= dir= endpoint-url= region= status-bucket= status-dir= status-prefix= this-box= registry= agent-unit= host-env= concurrency= timeout= json color= no-input q/quiet v/verbose h/help V/version
end

function __fish_carlosctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_carlosctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_carlosctl_using_subcommand
    set -l cmd (__fish_carlosctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c carlosctl -n "__fish_carlosctl_needs_command" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -s V -l version -d 'Print version'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "snapshot" -d 'Look at, check and protect snapshots'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "restore" -d 'Install a dead box\'s registry on this standby, before its agent is started'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "retention" -d 'See why each version stays or goes, and delete what nothing needs'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "report" -d 'Look at the box reports that retention rests on'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "box" -d 'The box half: what the platform\'s agent does on each box, for deployments without it'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "drill" -d 'Rehearse a restore of every box, without touching any registry'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "doctor" -d 'Tell whether this machine could do a restore right now'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "runbook" -d 'The disaster recovery runbooks: read one, or walk through one'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "demo" -d 'Build a throwaway deployment and walk through a restore on it'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "man" -d 'Print the manual page, or write one for every command'
complete -c carlosctl -n "__fish_carlosctl_needs_command" -f -a "help" -d 'Print help: of the program, a command, a topic (exit-codes, findings), or one code of a topic'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "list" -d 'List each box\'s snapshots, and which is the last good one'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "show" -d 'Show what is in one snapshot'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "verify" -d 'Download snapshots and prove them'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "diff" -d 'Compare two snapshots of a box row by row'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "pull" -d 'Save a verified copy of one snapshot to a file'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and not __fish_seen_subcommand_from list show verify diff pull hold" -f -a "hold" -d 'Freeze a box\'s snapshots out of reach of the agent\'s pruning'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l box -d 'Only this box; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l all-versions -d 'Also show older versions and delete markers, where the bucket keeps them'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l box -d 'The box' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l at -d 'Which snapshot: current, good, a stamp, a time (RFC 3339, or 2h), version:ID, hold:STAMP[/STAMP], file:PATH' -x -a '(__fish_carlosctl_values snapshots)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l box -d 'Only this box; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l all-generations -d 'Every generation, not only current'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l box -d 'The box' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l box -d 'The box' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l at -d 'Which snapshot; as for snapshot show' -x -a '(__fish_carlosctl_values snapshots)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l out -d 'The file to write; it must not exist' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from pull" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l box -d 'The box to hold' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l all-versions -d 'Also hold the last good older version of current'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -f -a "list" -d 'List the holds'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold" -f -a "release" -d 'Delete one hold'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l from-box -d 'The dead box, whose snapshot is installed here' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l at -d 'Which snapshot: current, good, a stamp, a time (RFC 3339, or 2h), version:ID, hold:STAMP[/STAMP], file:PATH' -x -a '(__fish_carlosctl_values snapshots)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l allow -d 'Override one overridable finding, by its code; repeatable' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l max-age -d 'Refuse a snapshot older than this' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l confirm -d 'Consent: the dead box\'s label' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l dry-run -d 'Do everything up to the question, and change nothing'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l same-label -d 'This box is the dead one, rebuilt under its label'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -f -a "undo" -d 'Put the registry back that the last restore replaced'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and not __fish_seen_subcommand_from undo watch" -f -a "watch" -d 'Prove the restore after the agent was started: wait two of its passes and look at what it publishes'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l confirm -d 'Consent: this box\'s label' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l dry-run -d 'Do everything up to the question, and change nothing'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l for -d 'How long to watch; two passes of an agent take up to 13 minutes' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l interval -d 'How often to look' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand restore; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -f -a "explain" -d 'Show why each version of each app stays or may go'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -f -a "plan" -d 'Save exactly what a run would delete, to be looked at and then run within an hour'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and not __fish_seen_subcommand_from explain plan run" -f -a "run" -d 'Delete the versions that nothing needs'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l version -d 'Print the whole proof of this version: rule, key, etag, field, value' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l keep -d 'Judge as if every app kept this many, and mark what that would newly delete' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l as-box -d 'Judge as this box\'s own pass would, by its registry alone' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l without-box -d 'Leave out a decommissioned box, whose pins do not count any more; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l evidence-out -d 'Save everything that the decision rests on; the file must not exist' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l evidence -d 'Decide again from saved evidence, without any store' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l out -d 'The file to write; it must not exist' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l without-box -d 'Leave out a decommissioned box, whose pins do not count any more; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l plan -d 'Run this plan; a plan is used once' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l without-box -d 'Leave out a decommissioned box, whose pins do not count any more; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l confirm -d 'Consent: the bucket, or the directory\'s own name' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand retention; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -f -a "list" -d 'List every box\'s report, and what it refuses'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and not __fish_seen_subcommand_from list show" -f -a "show" -d 'Show what one box reports of each of its hosts'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l box -d 'The box' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l as-of -d 'Judge ages at this instant (RFC 3339) instead of now' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand report; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -f -a "snapshot" -d 'Snapshot this box\'s registry into the deployment store, when it changed'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -f -a "report" -d 'Publish this box\'s build states as its report, on which retention rests'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -f -a "retention" -d 'Delete the versions that this box\'s own view says nothing needs'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and not __fish_seen_subcommand_from snapshot report retention run" -f -a "run" -d 'Snapshot, report and prune again and again, in one process, until it is told to stop'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l interval -d 'Wait this long before every pass, instead of 1 minute and then 5 to 6 minutes' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l loop -d 'Go on until told to stop: 1 minute after the start, then every 5 to 6 minutes'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l interval -d 'Wait this long before every pass, instead of 1 minute and then 5 to 6 minutes' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l loop -d 'Go on until told to stop: 1 minute after the start, then every 5 to 6 minutes'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from retention" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l interval -d 'Wait this long before every pass, instead of 1 minute and then 5 to 6 minutes' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand box; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l box -d 'Only this box; repeatable' -x -a '(__fish_carlosctl_values boxes)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l at -d 'Which snapshot of each box' -r -f -a "current\t'The current snapshot: what a restore takes by default'
good\t'The newest that proves and did not collapse'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l scratch -d 'The directory for the scratch registries; a disk like the standby\'s makes the recovery time a true one' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l boot-cmd -d 'A command that starts something on the restored registry and ends with 0 when it works, run by sh -c' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l boot-timeout -d 'How long the command may take; then it and whatever it started is killed, and the box has not booted' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l no-receipt -d 'Write no receipt, where this identity may only read'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand drill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l read-only -d 'Try nothing out: write no scratch object and no scratch file. What was not tried is not known, and so is the verdict'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -f -a "list" -d 'List the runbooks, and when each of them is used'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -f -a "show" -d 'Read a runbook; needs no network'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and not __fish_seen_subcommand_from list show run" -f -a "run" -d 'Walk through a runbook, one command at a time'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l from -d 'Begin at this step; the steps before it are passed over' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l set -d 'A value of the runbook, such as DEAD=edge-a1; repeatable. With --resume, what rests on another value is run again' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l transcript -d 'The transcript to write; it must not exist [default: NAME-STAMP.transcript in this directory]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l resume -d 'Go on where this transcript ends' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l confirm -d 'Consent to a command that wants this name typed; repeatable' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l unattended -d 'Run every command without asking; one that wants a name typed still wants its own --confirm'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand runbook; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l keep -d 'Only build the deployment, and keep it to explore; --dir names where'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l out -d 'Write one page a command into this directory, which must exist; pages of the same name are written over' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l bucket -d 'The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l dir -d 'The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l endpoint-url -d 'An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l region -d 'The S3 region [env: CARLOS_AWS_REGION, then the SDK\'s own chain]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l status-bucket -d 'The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l status-dir -d 'The directory that boxes report to [env: CARLOS_STATUS_DIR]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l status-prefix -d 'Where in the status store the platform\'s own reports are [env: CARLOS_STATUS_PREFIX]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l this-box -d 'This box\'s own label [env: CARLOS_BOX_LABEL]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l registry -d 'The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l agent-unit -d 'A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l host-env -d 'The file that has settings which the environment lacks [default: /etc/carlos/host.env]' -r -F
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l concurrency -d 'How many requests may be under way at once [default: 32]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l timeout -d 'How long one request may take, or a transfer may stand still [default: 9s]' -r
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l json -d 'Print one JSON document instead of a table'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -l no-input -d 'Never ask; refuse where consent is needed and not given by a flag'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -s q -l quiet -d 'Say less on standard error'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -s v -l verbose -d 'Say where each setting came from'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from diff" -f -a '(__fish_carlosctl_values snapshots)'
complete -c carlosctl -n "__fish_carlosctl_using_subcommand snapshot; and __fish_seen_subcommand_from hold; and __fish_seen_subcommand_from release" -f -a '(__fish_carlosctl_values holds)'

# What only the deployment knows: labels of boxes, and stamps. One second at most; nothing where it cannot be told.
function __fish_carlosctl_values
    carlosctl __complete $argv[1] (commandline -pc | string collect) </dev/null 2>/dev/null
end
