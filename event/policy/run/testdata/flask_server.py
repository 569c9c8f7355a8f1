from flask import Flask, request, jsonify

app = Flask(__name__)

@app.route('/hook', methods=['POST'])
def handle_hook():
    data = request.json
    
    # Process the event
    event_type = data['event']['type']
    
    if event_type == 'PreToolUse':
        tool_name = data['data']['tool_name']
        
        # Example: Block dangerous commands
        if tool_name == 'Bash':
            command = data['data']['tool_input'].get('command', '')
            if 'rm -rf /' in command:
                return jsonify({
                    'version': '1.0',
                    'decision': 'block',
                    'reason': 'Dangerous command detected'
                })
    
    # Default: allow
    return jsonify({
        'version': '1.0',
        'decision': 'allow'
    })

if __name__ == '__main__':
    app.run(port=8080)
