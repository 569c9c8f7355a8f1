# beckon: what needs you, in the right prompt. In ~/.config/fish/config.fish:
#   @PROGRAM@ init fish | source
if status is-interactive
    # The right prompt that is there is kept, and wrapped at the first prompt, when
    # all that sets it has run; a prompt that is set later is wrapped again.
    function __beckon_wrap --on-event fish_prompt
        if functions -q fish_right_prompt
            string match -q '*__beckon_segment*' -- (functions fish_right_prompt); and return
            functions -e __beckon_right_prompt
            functions -c fish_right_prompt __beckon_right_prompt
        end
        function fish_right_prompt
            set -l __beckon_status $status
            __beckon_segment
            if functions -q __beckon_right_prompt
                __beckon_restore $__beckon_status
                __beckon_right_prompt
            end
        end
    end
    function __beckon_restore
        return $argv[1]
    end
    function __beckon_segment
        set -l segment (@LINE@ prompt 2>/dev/null </dev/null)
        test -n "$segment"; and printf '\e[1;31m%s\e[0m ' $segment
    end
end
